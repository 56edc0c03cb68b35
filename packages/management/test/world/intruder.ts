import { createRequire } from 'node:module'

interface Statement {
  all(...values: readonly unknown[]): Readonly<Record<string, unknown>>[]
  run(...values: readonly unknown[]): unknown
}

interface Database {
  prepare(sql: string): Statement
  exec(sql: string): void
  close(): void
}

interface Driver {
  readonly DatabaseSync: new (path: string) => Database
}

const requireFromStorage = createRequire(new URL('../../../storage/package.json', import.meta.url))

/**
 * The driver that `@ff/storage` selects. Two drivers in one process would release each other's
 * locks on a file.
 */
const { DatabaseSync } = (process.getBuiltinModule('node:sqlite') ??
  requireFromStorage('@photostructure/sqlite')) as Driver

/** Changes a data file directly, as an intruder on the machine could. */
export function tamper<T>(path: string, work: (database: Database) => T): T {
  const database = new DatabaseSync(path)
  try {
    // A server can be writing to the file at the same moment.
    database.exec('pragma busy_timeout = 60000')
    return work(database)
  } finally {
    database.close()
  }
}
