import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isFlagError } from '@ff/core'
import { copyStore, type StoredTables } from '@ff/storage/backup'
import { sqliteTables } from '@ff/storage/sqlite'
import type { Config } from './config.ts'
import {
  assertComplete,
  createUnfinished,
  finish,
  openDataFolder,
} from './data-folder/data-folder.ts'
import type { DemoSecrets } from './demo/demo.ts'
import { describeSecrets, type Print } from './introduction.ts'
import { placeOf, type StoreConfig, tablesOf } from './store.ts'

type Settings = StoreConfig &
  Pick<Config, 'adminToken' | 'administrator'> &
  Partial<Pick<Config, 'snapshotDir'>>

/** The time for which the start waits for the database if there are snapshots. */
const RESPONSE_WITHIN_MS = 250

/**
 * Creates a store with the demo, prints its secrets and returns them. Returns `undefined` if the
 * data folder or the database contains a store.
 *
 * The store becomes visible after its secrets are printed. Therefore a start that is interrupted
 * earlier is followed by another first start. No requests are served before.
 */
export function fillNewStore(settings: Settings, print: Print): Promise<DemoSecrets | undefined> {
  return settings.database === undefined
    ? fillFolder(settings, print)
    : fillDatabase(settings, print)
}

async function fillFolder(settings: Settings, print: Print): Promise<DemoSecrets | undefined> {
  const { dataDir } = settings
  if (await openDataFolder(dataDir)) return undefined
  const path = await createUnfinished(dataDir)
  const secrets = await fill(path, settings)
  assertComplete(path)
  await print(describeSecrets(placeOf(settings), secrets))
  await finish(path, dataDir)
  return secrets
}

/**
 * Creates the demo in a temporary file and copies it to the database in one transaction. Of several
 * instances that start together, one copies its demo, and the others then find a store.
 */
async function fillDatabase(settings: Settings, print: Print): Promise<DemoSecrets | undefined> {
  const to = tablesOf(settings)
  if (await isFilled(to, settings)) return undefined
  const folder = await mkdtemp(join(tmpdir(), 'ff-first-start-'))
  try {
    const path = join(folder, 'ff.sqlite')
    const secrets = await fill(path, settings)
    const beforeCommit = () => print(describeSecrets(placeOf(settings), secrets))
    const from = sqliteTables({ path })
    const isCopied = await copyStore({ from, to, isActive: true, beforeCommit }).then(
      () => true,
      refuseUnlessTaken,
    )
    return isCopied ? secrets : undefined
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Returns `true` if a database contains a store. Snapshots show that it does while it is
 * unavailable.
 */
async function isFilled(tables: StoredTables, { snapshotDir }: Settings): Promise<boolean> {
  const files = snapshotDir === undefined ? [] : await readdir(snapshotDir).catch(() => [])
  if (files.length === 0) return tables.exists()
  const existing = tables.exists().catch(() => true)
  return Promise.race([existing, delay(RESPONSE_WITHIN_MS, true, { ref: false })])
}

/** Returns `false` if another instance has created the store, and throws every other error. */
function refuseUnlessTaken(error: unknown): false {
  if (isFlagError(error) && error.code === 'CONFLICT') return false
  throw error
}

/** Fills a new file. The modules for it are loaded only then. */
async function fill(path: string, settings: Settings): Promise<DemoSecrets> {
  const { fillFile } = await import('./demo/demo-file.ts')
  return fillFile(path, settings)
}
