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

/** The driver of the store itself, which the server does not depend on. */
const { DatabaseSync } = createRequire(new URL('../../../storage/package.json', import.meta.url))(
  '@photostructure/sqlite',
) as { DatabaseSync: new (path: string) => Database }

/** What somebody does to the data file who got at the machine: past the server and its store. */
export function tamper<T>(path: string, work: (database: Database) => T): T {
  const database = new DatabaseSync(path)
  try {
    return work(database)
  } finally {
    database.close()
  }
}
