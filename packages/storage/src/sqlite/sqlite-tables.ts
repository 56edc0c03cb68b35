import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { createFile } from '../disk/new-file.ts'
import { sqliteDialect } from '../sql/dialect.ts'
import { MIGRATION_LOCK } from '../sql/migrate.ts'
import { plain, type SqlConnection } from '../sql/sql-driver.ts'
import type { StoredTables } from '../sql/stored-tables.ts'
import { openDataFile } from './data-file.ts'
import { SqliteDriver } from './sqlite-driver.ts'
import { unusableFile } from './sqlite-errors.ts'

type Work<T> = (connection: SqlConnection) => Promise<T>

/**
 * Returns the tables of a data file, for a backup, a restore or a copy. They can be read while other
 * processes use the file. They are created in a new file, which gets its name when it is complete.
 *
 * @example
 * await writeBackup(sqliteTables({ path: './data/flags.db' }), 'flags.backup')
 */
export function sqliteTables({ path }: { readonly path: string }): StoredTables {
  const place = resolve(path)
  return {
    place,
    dialect: sqliteDialect,
    exists: async () => existsSync(place),
    read: (work) => read(place, work),
    create: (work) => create(place, work),
  }
}

async function read<T>(path: string, work: Work<T>): Promise<T> {
  if (!existsSync(path)) throw unusableFile(path, 'it does not exist')
  const channel = openDataFile(path, { readsOnly: true })
  try {
    // The first read determines the state that all reads of the transaction see.
    const [, check] = await channel.write([plain('begin'), plain('pragma quick_check(1)')])
    const result = check?.[0]?.quick_check
    if (result !== 'ok') throw unusableFile(path, `it is damaged (${result})`)
    return await work({ run: (statements) => channel.write(statements) })
  } finally {
    await channel.close()
  }
}

async function create<T>(path: string, work: Work<T>): Promise<T> {
  // SQLite would apply the log of an earlier file to the new one.
  const log = [`${path}-wal`, `${path}-journal`].find((each) => existsSync(each))
  if (log !== undefined) throw unusableFile(path, `${log} belongs to an earlier file`)
  return createFile(path, async (temporary) => {
    const driver = new SqliteDriver(openDataFile(temporary))
    const result = await driver.transaction(MIGRATION_LOCK, work).finally(() => driver.close())
    // SQLite keeps the log if it cannot write all changes to the file.
    if (existsSync(`${temporary}-wal`)) throw unusableFile(path, 'it could not be written')
    return result
  })
}
