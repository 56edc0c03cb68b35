import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, afterEach, describe, expect, inject, it } from 'vitest'
import { emptyTables, postgresUrl, runOnPostgres } from '../../test/postgres-schema.ts'
import { describeDeliveries } from '../contract/claims/deliveries.ts'
import { describeLeases } from '../contract/claims/leases.ts'
import {
  changeFeedContract,
  instanceReportsContract,
  rateLimiterContract,
  severalWritersContract,
} from '../contract/contract.ts'
import { describePublishing } from '../contract/publishing.ts'
import { describeTransactions } from '../contract/transactions.ts'
import { describeEvaluationCounts } from '../contract/usage/evaluation-counts.ts'
import { postgres } from './postgres.ts'

/** The databases of this test, and those of them that no store uses. */
const [databases, unused]: [string[], string[]] = [[], []]

/** Returns the name of an empty database. Emptying one takes less time than creating it. */
async function takeDatabase(): Promise<string> {
  const emptied = unused.pop()
  if (emptied !== undefined) return emptied
  const created = `ff_test_${randomUUID().replaceAll('-', '')}`
  await runOnPostgres(`create database ${created}`)
  databases.push(created)
  return created
}

function urlOf(server: string, database: string): string {
  return Object.assign(new URL(server), { pathname: `/${database}` }).href
}

/** Opens ports. The change feed listens without PgBouncer. */
async function open() {
  const database = await takeDatabase()
  const url = urlOf(inject('pgBouncerUrl'), database)
  const listenUrl = urlOf(postgresUrl(), database)
  const ports = postgres({ url, listenUrl })
  const close = async () => {
    await ports.storage.close()
    await emptyTables('public', listenUrl)
    unused.push(database)
  }
  return { ...ports, url, close }
}

/** Opens migrated ports. */
async function openMigrated() {
  const ports = await open()
  await ports.storage.migrate()
  return ports
}

describe.skipIf(inject('pgBouncerUrl') === '')('PgBouncer in the mode `transaction`', () => {
  afterAll(async () => {
    for (const each of databases) await runOnPostgres(`drop database ${each} with (force)`)
  })

  it('Two transactions of one client can be in different database sessions', async () => {
    const { storage, url, close } = await openMigrated()
    // A transaction that begins within another one needs another database session.
    await storage.transaction('first', async (outer) => {
      await outer.find('flag', 'absent')
      await storage.transaction('second', (inner) => inner.find('flag', 'absent'))
    })
    const client = new Client({ connectionString: url })
    await client.connect()
    const sessions = new Set<unknown>()
    for (const _ of [1, 2]) {
      const { rows } = await client.query('select pg_backend_pid() as pid')
      sessions.add(rows[0]?.pid)
    }
    await client.end()
    await close()
    expect(sessions.size).toBeGreaterThan(1)
  })

  /** The parts of the storage contract whose statements depend on each other. */
  describe('the storage contract in part: PostgreSQL with PgBouncer', () => {
    const closing: (() => Promise<void>)[] = []
    const openStorage = async () => {
      const { storage, close } = await openMigrated()
      closing.push(close)
      return storage
    }
    afterEach(async () => {
      for (const close of closing.splice(0)) await close()
    })

    describeTransactions(openStorage)
    describePublishing(openStorage)
    describeEvaluationCounts(openStorage)
    describeDeliveries(openStorage)
    describeLeases(openStorage)
  })

  severalWritersContract('PostgreSQL with PgBouncer, two instances', async () => {
    const { storage, url, close } = await open()
    const other = postgres({ url, listenUrl: false }).storage
    const closeBoth = async () => {
      await other.close()
      await close()
    }
    return { storages: [storage, other], close: closeBoth }
  })

  changeFeedContract('PostgreSQL with PgBouncer', async () => {
    const { changeFeed, close } = await open()
    if (changeFeed === undefined) throw new Error('The adapter has no change feed.')
    return { changeFeed, close }
  })

  rateLimiterContract('PostgreSQL with PgBouncer', openMigrated)

  instanceReportsContract('PostgreSQL with PgBouncer', openMigrated)
})
