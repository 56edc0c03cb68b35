import { expect, it, onTestFinished } from 'vitest'
import { openPostgresName } from '../../test/postgres-name.ts'
import { PostgresProcess } from '../../test/postgres-process.ts'
import { newPostgresSchema, openPostgres } from '../../test/postgres-store.ts'
import { isReadOnly } from '../ports/record-errors.ts'
import { plain } from '../sql/sql-driver.ts'
import { PostgresDriver } from './postgres-driver.ts'
import { postgresSettings } from './postgres-settings.ts'

const TABLE = 'create table if not exists note (id text)'
const INSERT = { sql: 'insert into note values ($1)', parameters: ['a'] }

async function openDriver(url: string): Promise<PostgresDriver> {
  const driver = new PostgresDriver(postgresSettings({ url, listenUrl: false }))
  onTestFinished(() => driver.close())
  return driver
}

const outcomeOf = (change: Promise<unknown>) =>
  change.then(
    () => 'written' as const,
    (error: unknown) => (isReadOnly(error) ? ('read-only' as const) : error),
  )

it('After a failover, changes are accepted as soon as the name of the database points to the primary', async () => {
  const primary = await PostgresProcess.start({ isDurable: false })
  onTestFinished(() => primary.remove())
  const earlier = new PostgresDriver(postgresSettings({ url: primary.url }))
  await earlier.write([plain(TABLE)])
  await earlier.close()
  const standby = await primary.startStandby()
  onTestFinished(() => standby.remove())
  const name = await openPostgresName(standby.url)
  const driver = await openDriver(name.url)
  const changes = [
    () => driver.transaction('a', (connection) => connection.run([INSERT])),
    () => driver.runAlone(INSERT),
    () => driver.write([INSERT]),
  ]
  const whereAmI = async () => {
    const [rows] = await driver.reader.run([plain('select pg_is_in_recovery() as "isStandby"')])
    return rows?.[0]?.['isStandby']
  }
  for (const change of changes) {
    name.pointTo(standby.url)
    const refused = await Promise.all(Array.from({ length: 20 }, () => outcomeOf(change())))
    expect(new Set(refused)).toEqual(new Set(['read-only']))
    expect(await whereAmI()).toBe(true)
    name.pointTo(primary.url)
    expect(await outcomeOf(change())).toBe('written')
    // Reads do not stay at the standby, which has older data.
    expect(await whereAmI()).toBe(false)
  }
})

it('A database with `default_transaction_read_only` accepts no changes, and reads succeed', async () => {
  const { url } = await newPostgresSchema()
  const driver = await openDriver(url)
  await driver.write([plain(TABLE)])
  // The setting of a session in its URL, as `alter role` and `alter database` set it for all.
  const frozen = new URL(url)
  const options = frozen.searchParams.get('options') ?? ''
  frozen.searchParams.set('options', `${options} -c default_transaction_read_only=on`)
  const reading = await openDriver(frozen.href)
  expect(await outcomeOf(reading.transaction('a', (each) => each.run([INSERT])))).toBe('read-only')
  expect(await outcomeOf(reading.runAlone(INSERT))).toBe('read-only')
  expect(await outcomeOf(reading.write([INSERT]))).toBe('read-only')
  expect(await reading.reader.run([plain('select 1 as one')])).toEqual([[{ one: 1 }]])
})

it('The time limit of transactions in the settings of a role does not end a migration', async () => {
  const { url } = await newPostgresSchema()
  const limited = new URL(url)
  const options = limited.searchParams.get('options') ?? ''
  limited.searchParams.set('options', `${options} -c transaction_timeout=50`)
  const driver = await openDriver(limited.href)
  const wait = plain('select pg_sleep(0.2)')
  await driver.transaction('a', (connection) => connection.run([wait]), { isUnlimited: true })
  await driver.transaction('a', (connection) => connection.run([wait]))
  await driver.reader.run([wait])
})

it('A connection is not used for longer than its lifetime', async () => {
  const { url } = await newPostgresSchema()
  const name = await openPostgresName(url)
  const { storage } = openPostgres({
    url: name.url,
    listenUrl: false,
    readConnections: 1,
    writeConnections: 1,
    connectionLifetimeMs: 1000,
  })
  await storage.migrate()
  const before = name.connections()
  await expect
    .poll(async () => {
      await storage.list('organization', { limit: 1 })
      return name.connections()
    })
    .toBeGreaterThan(before)
})
