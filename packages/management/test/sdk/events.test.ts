import { beforeEach, describe, expect, it } from 'vitest'
import { call } from '../../../server/test/call.ts'
import { type MetricsShop, openMetricsShop } from '../world/metrics-shop.ts'
import type { Json } from '../world/world.ts'

const NOW = '2030-01-01T00:00:00.000Z'
const DAY = 24 * 60 * 60_000

let shop: MetricsShop

beforeEach(async () => {
  shop = await openMetricsShop()
  return () => shop.flags.close()
})

const report = (events: unknown, key = shop.mine.serverKey) =>
  call(shop.flags, '/evaluator/events', { key, body: { events } })
const event = (changes: Json = {}): Json => ({
  flag_key: 'theme',
  variation_key: 'dark',
  reason: 'STATIC',
  count: 1,
  from: NOW,
  ...changes,
})

/** Returns the metrics after all reports have been written. */
async function metrics(environmentId = shop.mine.live): Promise<Json> {
  await shop.clock.advance(11_000)
  return shop.read(`/flags/${shop.mine.flag.id}/metrics?environmentId=${environmentId}`)
}

describe('POST /evaluator/events', () => {
  it('Reported evaluations are added to the metrics', async () => {
    const answer = await report([
      event({ count: 7, micros: 2940, context_keys: ['ada', 'bob', 'eve'] }),
      event({ variation_key: 'light', reason: 'SPLIT', count: 2, context_keys: ['ada'] }),
      event({ variation_key: null, reason: 'ERROR', count: 1 }),
    ])
    expect([answer.status, answer.body]).toEqual([200, { accepted: 10, ignored: 0 }])
    expect(answer.headers.get('x-ratelimit-remaining')).toBe('5999')
    expect(await metrics()).toMatchObject({
      totalEvaluations: { value: 10 },
      uniqueUsers: { value: 3 },
      successRate: { value: '90%' },
      errorRate: { value: '10%' },
      avgResponseTime: { value: '0.29ms' },
      variationPerformance: [
        { key: 'dark', evaluations: 7, percentage: 70 },
        { key: 'light', evaluations: 2, percentage: 20 },
      ],
    })
    expect(await metrics(shop.mine.staging)).toMatchObject({ totalEvaluations: { value: 0 } })
  })

  it('A reported evaluation has the source sdk and is counted in its minute', async () => {
    await shop.clock.advance(10 * 60_000)
    await report([event({ from: '2030-01-01T00:03:20Z' })])
    await shop.clock.advance(2000)
    const query = { environmentId: shop.mine.live, flagId: shop.mine.flag.id }
    const from = '2030-01-01T00:03:00.000Z'
    const to = '2030-01-01T00:04:00.000Z'
    const counts = await shop.storage.loadEvaluationCounts({ ...query, from, to })
    expect(counts).toMatchObject([{ count: 1, reason: 'STATIC', source: 'sdk' }])
  })

  it('Events of unknown flags or variations and old events are ignored', async () => {
    shop.clock.set(shop.clock.now() + DAY + 1)
    const answer = await report([
      event({ flag_key: 'unknown', count: 2 }),
      event({ flag_key: '__proto__', count: 3 }),
      event({ variation_key: 'unknown', count: 4 }),
      event({ from: NOW, count: 5 }),
      event({ from: '2030-01-02T00:00:00.001Z', count: 6 }),
    ])
    expect(answer.body).toEqual({ accepted: 6, ignored: 14 })
    expect(await metrics()).toMatchObject({ totalEvaluations: { value: 6 } })
  })

  it('An event with a time in the future is counted at the current time', async () => {
    await report([event({ from: '2031-01-01T00:00:00Z', count: 3 })])
    expect(await metrics()).toMatchObject({ totalEvaluations: { value: 3 } })
  })

  it('Reported evaluations are not added to the billed usage', async () => {
    await report([event({ count: 1000 })])
    await metrics()
    const organization = await shop.storage.find('organization', shop.mine.orgId)
    expect(organization?.apiUsage).toBe(0)
    expect(await shop.storage.loadApiCalls()).toEqual(new Map())
  })

  it('Reports require an SDK key and are counted in its environment', async () => {
    expect((await report([event()], shop.mine.clientKey)).status).toBe(200)
    expect((await report([event()], shop.theirs.serverKey)).status).toBe(200)
    expect(await metrics()).toMatchObject({ totalEvaluations: { value: 1 } })
    expect((await report([event()], `ff_${'0'.repeat(64)}`)).status).toBe(401)
  })

  it.each([
    [undefined, 'events'],
    [{}, 'events'],
    ['none', 'events'],
    [[null], 'events.0'],
    [[{}], 'events.0.flag_key'],
  ])('Events that are %j are refused with the field %s', async (events, field) => {
    const { status, body } = await report(events)
    expect(status).toBe(400)
    const error = `${field} is missing or has an invalid value.`
    expect(body).toEqual({ error, statusCode: 400 })
  })

  it('A report with an invalid event is refused completely', async () => {
    expect((await report([event(), event({ count: -1 })])).status).toBe(400)
    expect(await metrics()).toMatchObject({ totalEvaluations: { value: 0 } })
  })

  it('Reports that are too large and other methods are refused', async () => {
    const path = '/evaluator/events'
    const key = shop.mine.serverKey
    const large = await call(shop.flags, path, { key, body: `"${'x'.repeat(262_144)}"` })
    expect(large.status).toBe(413)
    const read = await call(shop.flags, path, { key, method: 'GET' })
    expect([read.status, read.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
  })
})
