import type { EvaluationCount } from '@ff/storage'
import { beforeEach, describe, expect, it } from 'vitest'
import { HyperLogLog } from '../../../server/src/usage/hyper-log-log.ts'
import { evaluate } from '../../../server/test/call.ts'
import { SYSTEM } from '../../src/index.ts'
import { type MetricsShop, openMetricsShop } from '../world/metrics-shop.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

let shop: MetricsShop

beforeEach(async () => {
  shop = await openMetricsShop()
  return () => shop.flags.close()
})

const pathOf = (query = `environmentId=${shop.mine.live}`, flagId = shop.mine.flag.id) =>
  `/flags/${flagId}/metrics?${query}`
const metrics = () => shop.read(pathOf())

/** Advances the clock without running the timers in between. */
function pass(ms: number): void {
  shop.clock.set(shop.clock.now() + ms)
}

/** Evaluates for the users `from` to `to`, then writes the counts. */
async function ask(from: number, to: number): Promise<void> {
  for (let user = from; user <= to; user += 1) {
    await evaluate(shop.flags, shop.mine.clientKey, { kind: 'user', key: `user-${user}` })
  }
  await shop.clock.advance(2000)
}

/** Returns the registers of a sketch of this number of users. */
function registersOf(count: number): string {
  const users = new HyperLogLog()
  for (let user = 0; user < count; user += 1) users.add(`user-${user}`)
  return users.toText()
}

/** Writes a count of the current minute. */
async function count(changes: Partial<EvaluationCount>): Promise<void> {
  const { mine, storage, clock } = shop
  const minute = new Date(Math.floor(clock.now() / MINUTE) * MINUTE).toISOString()
  const place = { environmentId: mine.live, flagId: mine.flag.id, minute }
  const outcome = { variationId: null, reason: 'STATIC', source: 'rest', instanceId: 'i' } as const
  await storage.addEvaluationCounts([{ ...place, ...outcome, count: 1, micros: 0, ...changes }])
}

describe('GET /flags/{flagId}/metrics', () => {
  it('The metrics of a flag without evaluations are zero', async () => {
    const zero = { value: 0, change: 0 }
    expect(await metrics()).toEqual({
      totalEvaluations: zero,
      uniqueUsers: zero,
      successRate: { value: '0%', change: 0 },
      errorRate: { value: '0%', change: 0 },
      avgResponseTime: { value: '0ms', change: 0 },
      variationPerformance: [
        { key: 'dark', name: 'DARK', evaluations: 0, percentage: 0 },
        { key: 'light', name: 'LIGHT', evaluations: 0, percentage: 0 },
      ],
      client_reported: zero,
    })
  })

  it('Metrics count the evaluations and the unique users', async () => {
    await ask(1, 10)
    await ask(6, 10)
    expect(await metrics()).toMatchObject({
      totalEvaluations: { value: 15, change: 100 },
      uniqueUsers: { value: 10, change: 100 },
      successRate: { value: '100%', change: 100 },
      errorRate: { value: '0%', change: 0 },
      avgResponseTime: { value: expect.stringMatching(/^\d+(\.\d+)?ms$/) },
      variationPerformance: [
        { key: 'dark', evaluations: 15, percentage: 100 },
        { key: 'light', evaluations: 0, percentage: 0 },
      ],
    })
  })

  it('The unique users are at most as many as the evaluations', async () => {
    const { storage, mine, clock } = shop
    const registers = registersOf(100)
    const hour = new Date(clock.now()).toISOString()
    const place = { environmentId: mine.live, hour, instanceId: 'i' }
    const versions = { keyKind: null, firstVersion: null, lastVersion: null }
    const sketch = { id: 'earlier', flagId: null, ...place, ...versions, registers }
    await storage.insert('userSketch', sketch)
    expect(await metrics()).toMatchObject({ uniqueUsers: { value: 0, change: 0 } })
    await count({ count: 7 })
    expect(await metrics()).toMatchObject({ uniqueUsers: { value: 7, change: 100 } })
    await count({ count: 700 })
    const { value = 0 }: { readonly value?: number } = (await metrics())['uniqueUsers'] ?? {}
    expect(Math.abs(value - 100)).toBeLessThan(4)
  })

  it('Metrics compare the last 24 hours with the 24 hours before', async () => {
    await ask(1, 8)
    pass(DAY)
    expect(await metrics()).toMatchObject({
      totalEvaluations: { value: 0, change: -100 },
      successRate: { value: '0%', change: -100 },
    })
    await ask(1, 10)
    expect(await metrics()).toMatchObject({
      totalEvaluations: { value: 10, change: 25 },
      successRate: { value: '100%', change: 0 },
    })
    pass(2 * DAY)
    expect(await metrics()).toMatchObject({ totalEvaluations: { value: 0, change: 0 } })
  })

  it('Metrics count the evaluations that were reported with a client key, for all reasons', async () => {
    await count({ source: 'client', count: 8 })
    pass(DAY)
    await count({ source: 'client', count: 9 })
    await count({ source: 'client', reason: 'ERROR', count: 1 })
    await count({ source: 'sdk', count: 20 })
    await count({ source: 'rest', count: 30 })
    expect(await metrics()).toMatchObject({
      totalEvaluations: { value: 60 },
      client_reported: { value: 10, change: 25 },
    })
  })

  it('Metrics cover the current minute and the 1439 minutes before it', async () => {
    await count({ count: 3 })
    const valueAfter = async (ms: number) => {
      pass(ms)
      return (await metrics())['totalEvaluations']
    }
    expect(await valueAfter(0)).toEqual({ value: 3, change: 100 })
    expect(await valueAfter(DAY - 1)).toEqual({ value: 3, change: 100 })
    expect(await valueAfter(1)).toEqual({ value: 0, change: -100 })
    expect(await valueAfter(DAY - 1)).toEqual({ value: 0, change: -100 })
    expect(await valueAfter(1)).toEqual({ value: 0, change: 0 })
  })

  it('Metrics never round a success rate up to 100 percent if an evaluation failed', async () => {
    await count({ count: 99_999, reason: 'DEFAULT', micros: 42_000_000 })
    await count({ count: 1, reason: 'ERROR' })
    expect(await metrics()).toMatchObject({
      totalEvaluations: { value: 100_000 },
      successRate: { value: '99.99%' },
      errorRate: { value: '0.01%' },
      avgResponseTime: { value: '0.42ms' },
    })
  })

  it('Metrics show times below a hundredth of a millisecond with two digits', async () => {
    await count({ count: 10, micros: 16 })
    expect(await metrics()).toMatchObject({ avgResponseTime: { value: '0.0016ms' } })
  })

  it('Metrics divide evaluations among the variations, for all reasons and transports', async () => {
    const [dark, light] = shop.mine.flag.variations.map(({ id }) => id)
    if (dark === undefined || light === undefined) throw new Error('two variations')
    await count({ variationId: dark, count: 2 })
    await count({ variationId: dark, reason: 'SPLIT', source: 'ws', count: 1 })
    await count({ variationId: light, source: 'sdk', count: 5 })
    await count({ variationId: null, reason: 'ERROR', count: 1 })
    expect(await metrics()).toMatchObject({
      totalEvaluations: { value: 9 },
      variationPerformance: [
        { key: 'dark', name: 'DARK', evaluations: 3, percentage: 33.33 },
        { key: 'light', name: 'LIGHT', evaluations: 5, percentage: 55.56 },
      ],
    })
  })

  it('Metrics contain the evaluations of one environment only', async () => {
    await ask(1, 3)
    const elsewhere = await shop.read(pathOf(`environmentId=${shop.mine.staging}&period=24h`))
    expect(elsewhere).toMatchObject({ totalEvaluations: { value: 0 }, uniqueUsers: { value: 0 } })
  })

  it.each([
    ['', 'environmentId'],
    ['environmentId=x', 'environmentId'],
    ['environmentId=', 'environmentId'],
    ['period=24h', 'environmentId'],
    ['environmentId=LIVE&period=7d', 'period'],
    ['environmentId=LIVE&period=', 'period'],
    ['environmentId=LIVE&environment_id=LIVE', 'environment_id'],
  ])('Metrics refuse the query %j and name %s', async (query, field) => {
    const path = pathOf(query.replaceAll('LIVE', shop.mine.live))
    const { status, body } = await shop.ask('GET', path)
    expect(status).toBe(400)
    expect(body).toMatchObject({ data: { issues: [{ path: field }] } })
  })

  it('Metrics with an environment of another project name the environment', async () => {
    const { mine, flags, ask: send } = shop
    const other = await flags.as(SYSTEM).createProject({
      params: { orgId: mine.orgId },
      body: { key: 'other' },
    })
    const path = pathOf(`environmentId=${other.environments[0]?.id}`)
    for (const token of [mine.tokens.viewer, mine.tokens.platform]) {
      expect(await send('GET', path, token)).toMatchObject({
        status: 404,
        body: { message: 'There is no such environment.' },
      })
    }
  })

  it('Metrics return the same 404 for an unknown flag and for a flag of another organization', async () => {
    const { mine, theirs, ask: send } = shop
    const nobodys = crypto.randomUUID()
    const answers = async (paths: readonly string[]) => {
      const all = await Promise.all(paths.map((path) => send('GET', path)))
      return all.map(({ status, body }) => [status, (body as { message: string }).message])
    }
    const environments = [theirs.live, nobodys].map((id) => pathOf(`environmentId=${id}`))
    expect(await answers(environments)).toEqual(
      Array(2).fill([404, 'There is no such environment.']),
    )
    const flagIds = [theirs.flag.id, nobodys].map((id) => pathOf(undefined, id))
    expect(await answers(flagIds)).toEqual(Array(2).fill([404, 'There is no such flag.']))
    const foreign = `/flags/${mine.flag.id}/metrics?environmentId=${mine.live}`
    expect((await send('GET', foreign, theirs.tokens.owner)).status).toBe(404)
    const mixed = `/flags/${mine.flag.id}/metrics?environmentId=${theirs.live}`
    expect((await send('GET', mixed, mine.tokens.platform)).status).toBe(404)
  })
})
