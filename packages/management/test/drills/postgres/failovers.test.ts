import { expect, it, onTestFinished } from 'vitest'
import { IS_FULL, report, sized } from '../../../../server/test/drills/scale.ts'
import { openPostgresName } from '../../../../storage/test/postgres-name.ts'
import { PostgresProcess } from '../../../../storage/test/postgres-process.ts'
import { CountingWriters } from '../counting-writers.ts'
import { addTenants } from '../data-file.ts'
import { spreadOf } from '../durations.ts'
import { pause, startServer } from '../server-process.ts'
import { evaluateSteadily } from './steady-evaluations.ts'

const SWITCHES = sized({ full: 20, small: 1 })
/** The longest time for which the name points to the earlier primary, which is a standby then. */
const LATE_MS = sized({ full: 10_000, small: 500 })

/** Repeats changes until they are accepted. Throws if they are not accepted in time. */
async function untilAccepted(change: () => Promise<unknown>): Promise<void> {
  for (const begunAt = performance.now(); ; await pause(20)) {
    try {
      await change()
      return
    } catch (error) {
      if (performance.now() - begunAt > 30_000) throw error
    }
  }
}

async function readinessOf(url: string): Promise<unknown> {
  const { data } = (await (await fetch(`${url}/ready`)).json()) as { data: { status: string } }
  return data.status
}

it.each([1, 2])(
  'While the primary of PostgreSQL changes and its name moves late, %i instance(s) evaluate, lose no change, and accept changes again',
  { timeout: 300_000 + SWITCHES * 60_000 },
  async (count) => {
    let primary = await PostgresProcess.start({ isDurable: true })
    let standby = await primary.startStandby()
    onTestFinished(async () => {
      await Promise.all([primary.remove(), standby.remove()])
    })
    const name = await openPostgresName(primary.url)
    const store = { location: name.url, ...(await addTenants(name.url)) }
    const servers = await Promise.all(
      Array.from({ length: count }, () => startServer(name.url, { isSilent: true })),
    )
    const writers = new CountingWriters(store)
    const evaluations = await Promise.all(servers.map(({ url }) => evaluateSteadily(url, store)))
    const acceptedAfter: number[] = []
    const readiness = new Set<unknown>()
    for (let change = 0; change < SWITCHES; change += 1) {
      const { url } = servers[change % count] ?? { url: '' }
      const writing = writers.write(url)
      await pause(50)
      await primary.kill()
      expect(await writing, 'the statuses of interrupted writes').toEqual(new Set([503]))
      await Promise.all([standby.promote(), primary.restartAsStandby(standby)])
      const movesAt = performance.now() + (LATE_MS * change) / Math.max(1, SWITCHES - 1)
      do {
        const refused = await writers.write(url)
        expect(refused, 'the statuses of writes on the standby').toEqual(new Set([503]))
        expect(await readinessOf(url), 'after a refused write').not.toBe('ready')
        for (const each of servers) readiness.add(await readinessOf(each.url))
        await pause(100)
      } while (performance.now() < movesAt)
      name.pointTo(standby.url)
      const begunAt = performance.now()
      for (const each of servers) await untilAccepted(() => writers.settle(each.url))
      acceptedAfter.push(performance.now() - begunAt)
      await writers.assertKept()
      for (const each of servers)
        await expect
          .poll(() => readinessOf(each.url), { interval: 50, timeout: 3000 })
          .toBe('ready')
      const earlier = primary
      primary = standby
      standby = earlier
      await earlier.remove()
      standby = await primary.startStandby()
    }
    for (const { url } of servers) await writers.assertChain(url)
    let evaluated = 0
    for (const each of evaluations) evaluated += await each.end()
    report(
      `${SWITCHES} failovers, ${count} instance(s): ${writers.acknowledged} writes acknowledged, 0 lost; ` +
        `${evaluated} evaluations, 0 failed; writes accepted ${spreadOf(acceptedAfter)} after the name ` +
        `moved; /ready said ${[...readiness].join(', ')}`,
    )
    if (IS_FULL) expect(Math.max(...acceptedAfter)).toBeLessThan(5000)
  },
)
