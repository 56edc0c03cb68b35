import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { sqlite } from '@ff/storage/sqlite'
import type { Config } from './config.ts'
import { createDemo, type DemoSecrets } from './demo.ts'

/** Returns the path of the database in the data directory. */
export function dataFileOf({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'ff.sqlite')
}

/**
 * Creates a store with the demo and returns the secrets to print. Returns `undefined` if a store
 * exists. The demo is written to a temporary file that is then renamed, so that an interrupted
 * first start can be repeated.
 */
export async function fillNewStore(
  path: string,
  adminToken: string | undefined,
): Promise<DemoSecrets | undefined> {
  if (existsSync(path)) return undefined
  const draft = `${path}.new`
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await remove(draft)
  const flags = createFlagServer({ ...sqlite({ path: draft }), management: createManagement() })
  try {
    const secrets = await createDemo(flags, adminToken)
    await flags.close()
    await rename(draft, path)
    return secrets
  } catch (error) {
    await flags.close()
    throw error
  }
}

async function remove(database: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm']) await rm(database + suffix, { force: true })
}
