import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { copyStore, type RowCounts, restoreBackup, writeBackup } from '@ff/storage/backup'
import { ConfigError } from './config/config-error.ts'
import { openDataFolder } from './data-folder/data-folder.ts'
import { keyFileOf } from './data-folder/secret-key.ts'
import { existingTables, placeOf, type StoreConfig, tablesOf } from './store.ts'

const INACTIVE =
  'Background jobs are off, because the original may still run them. If this store takes its place, stop the servers of the original, and run the command "activate" or start the server with FF_JOBS=1.'

/** Writes a backup. Returns the lines for the operator. */
export async function backUp(config: StoreConfig, file: string): Promise<readonly string[]> {
  const path = resolve(file)
  const rows = await writeBackup(await existingTables(config), path)
  return [
    `The backup ${path} contains ${totalOf(rows)} of ${placeOf(config)}.`,
    ...keyLines(config),
  ]
}

/** Creates a store from a backup. Returns the lines for the operator. */
export async function restore(config: StoreConfig, file: string): Promise<readonly string[]> {
  const path = resolve(file)
  if (!existsSync(path)) throw new ConfigError(`The backup ${path} does not exist.`)
  await refuseExistingStore(config)
  const { rows, createdAt } = await restoreBackup(path, tablesOf(config))
  return [
    `${placeOf(config)} contains ${totalOf(rows)} of the backup ${path} of ${createdAt}.`,
    config.database === undefined
      ? 'Restore the file secret.key too, or set FF_SECRET_KEY to the key of the store.'
      : 'Set FF_SECRET_KEY to the key of the store: FF_SECRET_KEY, or the contents of its secret.key.',
    INACTIVE,
  ]
}

/** Copies the data file to the database. Returns the lines for the operator. */
export async function copy(config: StoreConfig): Promise<readonly string[]> {
  const { dataDir, database } = config
  if (database === undefined) {
    throw new ConfigError('DATABASE_URL must be set: the database to which copy writes.')
  }
  const file = { dataDir, database: undefined }
  const from = await existingTables(file)
  await refuseExistingStore(config)
  const rows = await copyStore({ from, to: tablesOf(config) })
  return [
    `${placeOf(config)} contains ${totalOf(rows)} of ${from.place}. Both are equal.`,
    ...keyLines(file),
    INACTIVE,
  ]
}

/** Throws `ConfigError` if there is already a store. */
async function refuseExistingStore(config: StoreConfig): Promise<void> {
  if (config.database === undefined) {
    if (!(await openDataFolder(config.dataDir))) return
    throw new ConfigError(
      `The data folder ${config.dataDir} already contains a store. Set FF_DATA_DIR to another path, or move the store away.`,
    )
  }
  const tables = tablesOf(config)
  if (!(await tables.exists())) return
  throw new ConfigError(
    `The database of ${tables.place} is not empty: it has tables whose names begin with "ff_". Set DATABASE_URL to an empty database.`,
  )
}

/** Returns what the operator must know about the key in the data folder, which no backup contains. */
function keyLines({ dataDir, database }: StoreConfig): readonly string[] {
  const path = keyFileOf(dataDir)
  if (database !== undefined || !existsSync(path)) return []
  return [
    `The key in ${path} is not included. It decrypts the secrets of webhooks: keep it in another place, and set FF_SECRET_KEY="$(cat ${path})" for a server with this data. If FF_SECRET_KEY is already set, append the key to it after a comma.`,
  ]
}

function totalOf(rows: RowCounts): string {
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0)
  return `${total} rows of ${Object.keys(rows).length} tables`
}
