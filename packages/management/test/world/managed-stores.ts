import { join } from 'node:path'
import { memory } from '@ff/storage'
import { postgres } from '@ff/storage/postgres'
import { sqlite } from '@ff/storage/sqlite'
import type { StoreName } from '../../../../scripts/test-selection.ts'
import { newPostgresSchema } from '../../../storage/test/postgres-store.ts'
import { temporaryFolder } from '../../../storage/test/temporary-folder.ts'
import type { ManagedOptions } from './managed-server.ts'

/** The stores of the servers of a test. With PostgreSQL, two instances have one store. */
export const STORES_OF: Readonly<Record<StoreName, () => Promise<readonly ManagedOptions[]>>> = {
  memory: async () => [memory()],
  SQLite: async () => [sqlite({ path: join(await temporaryFolder(), 'flags.db') })],
  PostgreSQL: async () => {
    const { url } = await newPostgresSchema()
    return [postgres({ url }), postgres({ url })]
  },
}
