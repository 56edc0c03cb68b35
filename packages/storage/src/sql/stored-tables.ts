import type { SqlDialect } from './dialect.ts'
import type { SqlConnection } from './sql-driver.ts'

/** The tables of a store in an SQL database, for reading and creating all of them together. */
export interface StoredTables {
  /** The place of the database in messages: a path, or a host, a port and a database. */
  readonly place: string
  readonly dialect: SqlDialect
  /** Returns `true` if the database contains tables of a store. */
  exists(): Promise<boolean>
  /**
   * Runs `work` with a connection for reading, and returns its result. All reads see the state of one
   * moment, while other processes can write. Throws `UNAVAILABLE` if the database cannot be read.
   */
  read<T>(work: (connection: SqlConnection) => Promise<T>): Promise<T>
  /**
   * Runs `work`, which creates the tables, in one transaction, and returns its result. If `work`
   * throws, the database is unchanged. Throws `CONFLICT` if there is already a store.
   */
  create<T>(work: (connection: SqlConnection) => Promise<T>): Promise<T>
}
