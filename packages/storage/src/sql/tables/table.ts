import type { Kind, Records } from '../../ports/records.ts'

/** The type of a column: numbers with a fraction are `real`, arrays and objects are JSON text. */
export type ColumnType = 'text' | 'integer' | 'real' | 'boolean' | 'json'

/** The table of one kind of record, with one column for each field. */
export interface Table<K extends Kind> {
  readonly name: string
  readonly columns: { readonly [F in keyof Records[K] & string]: ColumnType }
}

/** The tables of several kinds. */
export type TablesOf<K extends Kind> = { readonly [Each in K]: Table<Each> }

/** The columns that end the tables of most kinds. */
export const recordColumns = {
  createdAt: 'text',
  updatedAt: 'text',
  deletedAt: 'text',
  revision: 'integer',
} as const
