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

/** The SQLite driver of `@ff/storage`, on which this package does not depend. */
const { DatabaseSync } = createRequire(new URL('../../../storage/package.json', import.meta.url))(
  '@photostructure/sqlite',
) as { DatabaseSync: new (path: string) => Database }

/** Changes a data file directly, as an intruder on the machine could. */
export function tamper<T>(path: string, work: (database: Database) => T): T {
  const database = new DatabaseSync(path)
  try {
    return work(database)
  } finally {
    database.close()
  }
}
