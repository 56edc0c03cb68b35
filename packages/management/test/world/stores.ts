import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memory, type Storage } from '@ff/storage'
import { postgres } from '@ff/storage/postgres'
import { type StoreName, storeNames } from '../../../../scripts/test-selection.ts'
import { openMigratedSqlite } from '../../../storage/test/migrated-file.ts'
import { reservePostgresSchema } from '../../../storage/test/postgres-schema.ts'

interface OpenedStore {
  readonly storage: Storage
  /** Deletes the files of the store. Must be called after the store is closed. */
  readonly clean: () => void
}

/**
 * Wraps a store so that it rolls the first run of each transaction back and runs its work again, as
 * a database does after a deadlock. `between` runs after the first run, as another instance could.
 */
export function repeating(
  storage: Storage,
  between: (lock: string) => Promise<void> = async () => undefined,
): Storage {
  const rolledBack = new Error('The first run was rolled back.')
  const transaction: Storage['transaction'] = async (lock, work) => {
    const firstRun = storage.transaction(lock, async (tx) => {
      await work(tx)
      throw rolledBack
    })
    await firstRun.catch((error: unknown) => {
      if (error !== rolledBack) throw error
    })
    await between(lock)
    return storage.transaction(lock, work)
  }
  return { ...storage, transaction }
}

/**
 * Opens two instances of a store in a schema of the test server, which `migrate` creates and `close`
 * empties. The calls go to both instances in turn, as behind a load balancer.
 */
function openPostgres(): OpenedStore {
  const schema = reservePostgresSchema()
  const open = () => postgres({ url: schema.url, listenUrl: false }).storage
  const instances = [open(), open()] as const
  let creation: Promise<void> | undefined
  let closing: Promise<void> | undefined
  const own = {
    async migrate() {
      creation ??= schema.create()
      await creation
      for (const instance of instances) await instance.migrate()
    },
    close() {
      closing ??= Promise.all(instances.map((instance) => instance.close())).then(schema.drop)
      return closing
    },
  }
  let calls = 0
  const storage = new Proxy(instances[0], {
    get(_, name) {
      if (name === 'migrate' || name === 'close') return own[name]
      calls += 1
      return Reflect.get(instances[calls % 2 === 0 ? 0 : 1], name)
    },
  })
  return { storage, clean: () => undefined }
}

function openSqlite(): OpenedStore {
  const folder = mkdtempSync(join(tmpdir(), 'ff-management-'))
  const storage = openMigratedSqlite(join(folder, 'flags.db'))
  return { storage, clean: () => rmSync(folder, { recursive: true }) }
}

const OPEN: Readonly<Record<StoreName, () => OpenedStore>> = {
  memory: () => ({ storage: repeating(memory().storage), clean: () => undefined }),
  SQLite: openSqlite,
  PostgreSQL: openPostgres,
}

/** The stores of this test run by name, for `describe.each`. */
export const stores = storeNames().map((name) => [name, OPEN[name]] as const)
