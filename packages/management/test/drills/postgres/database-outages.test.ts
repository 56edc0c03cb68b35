import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IS_FULL, report, sized } from '../../../../server/test/drills/scale.ts'
import { PostgresProcess } from '../../../../storage/test/postgres-process.ts'
import { runOnPostgres } from '../../../../storage/test/postgres-schema.ts'
import { CountingWriters } from '../counting-writers.ts'
import { addTenants } from '../data-file.ts'
import { percentileOf, spreadOf, timed } from '../durations.ts'
import { pause, startServer } from '../server-process.ts'
import { evaluateSteadily } from './steady-evaluations.ts'

const KILLS = sized({ full: 200, small: 2 })
const SUSPENSIONS = sized({ full: 10, small: 1 })
const REFUSED = new Set([503])

/** The duration of an outage. */
const OUTAGE_MS = sized({ full: 60_000, small: 1500 })

/** A role whose number of connections can be limited. */
const ROLE = { username: 'tenant', password: 'tenant' }
const CREATE_ROLE = `
  do $$ begin
    create role tenant login password 'tenant';
  exception when duplicate_object then null;
  end $$;
  grant pg_read_all_data, pg_write_all_data to tenant;
  grant create on schema public to tenant`
const END_SESSIONS = `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'tenant'`

/** An event because of which PostgreSQL cannot be used. */
interface Outage {
  readonly name: string
  readonly begin: () => Promise<void>
  readonly end: () => Promise<void>
}

async function statusOf(url: string): Promise<unknown> {
  const { data } = (await (await fetch(`${url}/ready`)).json()) as { data: { status: string } }
  return data.status
}

describe('a server whose database fails', () => {
  let database: PostgresProcess

  beforeAll(async () => {
    database = await PostgresProcess.start({ isDurable: true })
  })

  afterAll(() => database.remove())

  /** Creates a database with two organizations. */
  async function createStore(name: string) {
    await runOnPostgres(`create database ${name}`, database.url)
    const location = Object.assign(new URL(database.url), { pathname: `/${name}` }).href
    return { location, ...(await addTenants(location)) }
  }

  it('A server whose PostgreSQL is killed keeps acknowledged writes, evaluates, and recovers by itself', {
    timeout: 120_000 + KILLS * 20_000,
  }, async () => {
    const store = await createStore('killed')
    const writers = new CountingWriters(store)
    const server = await startServer(store.location, { isSilent: true })
    const evaluations = await evaluateSteadily(server.url, store)
    const refusedAfter: number[] = []
    const acknowledgedAfter: number[] = []
    for (let kill = 0; kill < KILLS; kill += 1) {
      const writing = writers.write(server.url)
      await pause(15 + Math.random() * 135)
      await database.kill()
      expect(await writing, 'the statuses of interrupted writes').toEqual(REFUSED)
      const refused = await timed(() => writers.write(server.url))
      expect(refused.result, 'the statuses without a database').toEqual(REFUSED)
      refusedAfter.push(refused.ms)
      await database.restart()
      acknowledgedAfter.push(await writers.settle(server.url))
      await writers.assertKept()
    }
    await writers.assertChain(server.url)
    const evaluated = await evaluations.end()
    expect(writers.acknowledged).toBeGreaterThan(KILLS)
    const [refused, acknowledged] = [spreadOf(refusedAfter), spreadOf(acknowledgedAfter)]
    report(
      `${KILLS} kills of PostgreSQL: ${writers.acknowledged} writes acknowledged, 0 lost; ` +
        `${evaluated} evaluations, 0 failed; writes refused after ${refused}, ` +
        `acknowledged again after ${acknowledged}`,
    )
    if (IS_FULL) expect(Math.max(...refusedAfter)).toBeLessThan(2000)
  })

  it('A server whose PostgreSQL stops responding during writes refuses them within two seconds, evaluates, and recovers', {
    timeout: 120_000 + SUSPENSIONS * 30_000,
  }, async () => {
    const store = await createStore('suspended')
    const writers = new CountingWriters(store)
    const server = await startServer(store.location, { isSilent: true })
    const evaluations = await evaluateSteadily(server.url, store)
    const refusedAfter: number[] = []
    for (let round = 0; round < SUSPENSIONS; round += 1) {
      const writing = writers.write(server.url)
      await pause(15 + Math.random() * 135)
      await database.suspend()
      const interrupted = await timed(() => writing)
      expect(interrupted.result, 'the statuses of interrupted writes').toEqual(REFUSED)
      refusedAfter.push(interrupted.ms)
      await database.resume()
      await expect.poll(() => statusOf(server.url)).toBe('ready')
      await writers.settle(server.url)
      await writers.assertKept()
    }
    await writers.assertChain(server.url)
    const evaluated = await evaluations.end()
    report(
      `${SUSPENSIONS} suspensions of PostgreSQL: ${writers.acknowledged} writes acknowledged, ` +
        `0 lost; ${evaluated} evaluations, 0 failed; writes refused after ${spreadOf(refusedAfter)}`,
    )
    if (IS_FULL) expect(Math.max(...refusedAfter)).toBeLessThan(2000)
  })

  const outages: readonly Outage[] = [
    {
      name: 'stopped',
      begin: () => database.kill(),
      end: () => database.restart(),
    },
    {
      name: 'not responding',
      begin: () => database.suspend(),
      end: () => database.resume(),
    },
    {
      name: 'out of connections',
      begin: async () => {
        await runOnPostgres('alter role tenant connection limit 0', database.url)
        await runOnPostgres(END_SESSIONS, database.url)
      },
      end: () => runOnPostgres('alter role tenant connection limit -1', database.url),
    },
  ]

  it.each(outages)(
    'While PostgreSQL is $name, all evaluations succeed, writes fail within two seconds, and the server is stale',
    {
      timeout: 120_000 + 2 * OUTAGE_MS,
    },
    async ({ name, begin, end }) => {
      const store = await createStore(name.replaceAll(' ', '_'))
      await runOnPostgres(CREATE_ROLE, store.location)
      const location = Object.assign(new URL(store.location), ROLE).href
      const server = await startServer(location, { isSilent: true })
      const writers = new CountingWriters(store)
      await writers.settle(server.url)
      const evaluations = await evaluateSteadily(server.url, store)
      await pause(OUTAGE_MS / 4)
      const before = percentileOf(evaluations.takeDurations(), 99)
      const writing = writers.write(server.url)
      await pause(OUTAGE_MS / 4)
      const beside = percentileOf(evaluations.takeDurations(), 99)
      await begin()
      expect(await writing, 'the statuses of interrupted writes').toEqual(REFUSED)
      evaluations.takeDurations()
      const refusedAfter: number[] = []
      for (const begunAt = performance.now(); performance.now() - begunAt < OUTAGE_MS; ) {
        const { result, ms } = await timed(() => writers.write(server.url))
        expect(result, 'the statuses of writes').toEqual(REFUSED)
        refusedAfter.push(ms)
        await pause(100)
      }
      expect(await statusOf(server.url)).toBe('stale')
      const during = percentileOf(evaluations.takeDurations(), 99)
      await end()
      const { ms: recoveredAfter } = await timed(async () => {
        await expect.poll(() => statusOf(server.url), { interval: 10 }).toBe('ready')
        await writers.settle(server.url)
      })
      await writers.assertKept()
      const evaluated = await evaluations.end()
      report(
        `PostgreSQL ${name} for ${OUTAGE_MS / 1000} s: ${evaluated} evaluations, 0 failed, p99 ` +
          `${during.toFixed(1)} ms (before ${before.toFixed(1)} ms, with writes ` +
          `${beside.toFixed(1)} ms); ${refusedAfter.length} rounds of writes refused after ${spreadOf(refusedAfter)}; acknowledged again after ` +
          `${Math.round(recoveredAfter)} ms`,
      )
      if (IS_FULL) expect(Math.max(...refusedAfter)).toBeLessThan(2000)
    },
  )
})
