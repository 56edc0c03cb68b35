import { resolve } from 'node:path'
import { createFile } from '../disk/new-file.ts'
import type { StoredTables } from '../sql/stored-tables.ts'
import { readBackup, writeContents } from './backup-file.ts'
import { type Creation, createContents, type RowCounts, readContents } from './contents.ts'

export type { StoredTables } from '../sql/stored-tables.ts'
export type { Creation, RowCounts } from './contents.ts'

/** What a restored backup contains. */
export interface RestoredBackup {
  /** The time at which the backup was created, in ISO 8601. */
  readonly createdAt: string
  readonly rows: RowCounts
}

/** The stores of a copy. */
export interface StoreCopy extends Creation {
  readonly from: StoredTables
  /** The place of the new store: a file that does not exist, or an empty database. */
  readonly to: StoredTables
}

/**
 * Writes all data of a store, at one moment, to a new file, and returns the number of rows. Programs
 * can use the store at the same time. The file can be restored in every SQL store. Throws `CONFLICT`
 * if the file already exists, and `UNAVAILABLE` if the store cannot be read or the file not written.
 */
export function writeBackup(tables: StoredTables, path: string): Promise<RowCounts> {
  return createFile(resolve(path), async (temporary) => {
    const { rows } = await readContents(tables, (contents) => writeContents(temporary, contents))
    return rows
  })
}

/**
 * Creates a store from a backup, and migrates it to the current schema. No server runs background
 * jobs with it before `activateStore` is called, because the original may still run them. If this
 * fails, nothing is created. Throws `INVALID_REQUEST` if the file is damaged, `UNAVAILABLE` if a later release has
 * written it, and `CONFLICT` if there is already a store.
 */
export function restoreBackup(path: string, tables: StoredTables): Promise<RestoredBackup> {
  return readBackup(resolve(path), async ({ createdAt }, contents) => {
    const { rows } = await createContents(tables, contents)
    return { createdAt, rows }
  })
}

/**
 * Copies all data of a store, at one moment, to a new store, and checks that both are equal. Unless
 * `isActive` is `true`, no server runs background jobs with it before `activateStore` is called. If
 * this fails, nothing is created. Returns the number of rows. Throws `CONFLICT` if there is already a
 * store.
 */
export function copyStore({ from, to, ...creation }: StoreCopy): Promise<RowCounts> {
  return readContents(from, async (contents) => {
    const { rows } = await createContents(to, contents, creation)
    return rows
  })
}
