import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IS_FULL, report, sized } from '../../../../server/test/drills/scale.ts'
import { PostgresProcess } from '../../../../storage/test/postgres-process.ts'
import { runOnPostgres } from '../../../../storage/test/postgres-schema.ts'
import { CountingWriters } from '../counting-writers.ts'
import { addTenants } from '../data-file.ts'
import { spreadOf, timed } from '../durations.ts'
import { pause, startServer } from '../server-process.ts'
import { evaluateSteadily } from './steady-evaluations.ts'

const KILLS = sized({ full: 200, small: 2 })
const SUSPENSIONS = sized({ full: 10, small: 1 })
const REFUSED = new Set([503])

/** The time limits of the server whose database is suspended. */
const LIMITS = { connectTimeoutMs: 1000, statementTimeoutMs: 1000, lockTimeoutMs: 1000 }
/** The documented time after which a statement without a response fails with these limits. */
const NO_RESPONSE_MS = 7000

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

  it('A server whose PostgreSQL does not respond refuses writes after the time limits, evaluates, and recovers', {
    timeout: 120_000 + SUSPENSIONS * 30_000,
  }, async () => {
    const store = await createStore('suspended')
    const writers = new CountingWriters(store)
    const server = await startServer(store.location, { isSilent: true, postgres: LIMITS })
    const evaluations = await evaluateSteadily(server.url, store)
    const refusedAfter: number[] = []
    for (let round = 0; round < SUSPENSIONS; round += 1) {
      const writing = timed(() => writers.write(server.url))
      await pause(15 + Math.random() * 135)
      await database.suspend()
      const interrupted = await writing
      expect(interrupted.result, 'the statuses of interrupted writes').toEqual(REFUSED)
      refusedAfter.push(interrupted.ms)
      await database.resume()
      await writers.settle(server.url)
      await writers.assertKept()
    }
    await writers.assertChain(server.url)
    const evaluated = await evaluations.end()
    report(
      `${SUSPENSIONS} suspensions of PostgreSQL: ${writers.acknowledged} writes acknowledged, ` +
        `0 lost; ${evaluated} evaluations, 0 failed; writes refused after ${spreadOf(refusedAfter)}`,
    )
    if (IS_FULL) expect(Math.max(...refusedAfter)).toBeLessThan(4 * NO_RESPONSE_MS)
  })
})
