import { FlagError } from '@ff/core'
import { notMigrated } from '../ports/record-errors.ts'
import type { Storage } from '../ports/storage.ts'
import { createStorage } from '../ports/storage-core.ts'
import type { SqlDialect } from './dialect.ts'
import { LeaseStatements } from './lease-statements.ts'
import { migrate } from './migrate.ts'
import { plain, type SqlDriver, type SqlTransaction } from './sql-driver.ts'
import { SqlSession, SqlStatements } from './sql-session.ts'

/** Creates a store on an SQL database from its driver and its dialect. */
export function createSqlStorage(driver: SqlDriver, dialect: SqlDialect): Storage {
  const run: SqlTransaction['run'] = (statements) => driver.reader.run(statements)
  const statements = new SqlStatements(dialect)
  const leases = new LeaseStatements(dialect)
  const reader = new SqlSession({ run, defer: refuseToWrite }, statements)
  let isMigrated = false

  return createStorage({
    async migrate() {
      await migrate(driver, dialect)
      // A connection to SQLite notices new columns only when it runs a statement. With some drivers,
      // the rows of this statement would lack them.
      await run([plain('select name from ff_migration')])
      isMigrated = true
    },
    async transaction(lock, work) {
      if (!isMigrated) throw notMigrated()
      return driver.transaction(lock, (connection) => work(new SqlSession(connection, statements)))
    },
    async claimLease(claim) {
      if (!isMigrated) throw notMigrated()
      return (await driver.runAlone(leases.claim(claim))).length > 0
    },
    async findLeaseHolder(name) {
      if (!isMigrated) throw notMigrated()
      const [rows] = await run([leases.find(name)])
      return rows?.[0] && String(rows[0]['holder'])
    },
    async releaseLease(lease) {
      if (!isMigrated) throw notMigrated()
      await driver.runAlone(leases.release(lease))
    },
    close: () => driver.close(),
    committed() {
      if (!isMigrated) throw notMigrated()
      return reader
    },
  })
}

function refuseToWrite(): never {
  throw new FlagError('INTERNAL', 'A write needs a transaction: the session can only read.')
}
