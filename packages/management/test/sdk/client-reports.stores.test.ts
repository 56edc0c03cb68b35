import type { EvaluationTotal } from '@ff/storage'
import { describe, expect, it, onTestFinished } from 'vitest'
import { call, evaluate } from '../../../server/test/call.ts'
import { type MetricsShop, openMetricsShop } from '../world/metrics-shop.ts'
import { stores } from '../world/stores.ts'
import type { Json } from '../world/world.ts'

const NOW = '2030-01-01T00:00:00.000Z'
const DAY = 24 * 60 * 60_000
const EVER = { from: '', to: '9' }

const event = (changes: Json = {}): Json => ({
  flag_key: 'theme',
  variation_key: 'dark',
  reason: 'STATIC',
  count: 1,
  from: NOW,
  ...changes,
})

const keys = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`)

describe.each(stores)('POST /evaluator/events with a client key, in %s', (_name, open) => {
  async function openShop(): Promise<MetricsShop> {
    const { storage, clean } = open()
    const shop = await openMetricsShop({ storage })
    onTestFinished(async () => {
      await shop.flags.close()
      clean()
    })
    return shop
  }

  async function report(shop: MetricsShop, events: readonly Json[], key = shop.mine.clientKey) {
    const answer = await call(shop.flags, '/evaluator/events', { key, body: { events } })
    expect(answer.status).toBe(200)
    return answer.body
  }

  /** Returns the metrics of `theme` after all reports have been written. */
  async function metrics({ clock, read, mine }: MetricsShop): Promise<Json> {
    await clock.advance(11_000)
    return read(`/flags/${mine.flag.id}/metrics?environmentId=${mine.live}`)
  }

  /** Returns the stored counts of `theme`, largest first. */
  async function totals(shop: MetricsShop): Promise<readonly EvaluationTotal[]> {
    await shop.clock.advance(1000)
    const place = { environmentId: shop.mine.live, flagId: shop.mine.flag.id }
    const all = await shop.storage.loadEvaluationCounts({ ...place, ...EVER })
    return [...all].sort((a, b) => b.count - a.count)
  }

  it('A report with a client key counts at most 10,000 evaluations of a flag', async () => {
    const shop = await openShop()
    const most = event({ count: 10_000 })
    expect(await report(shop, [most])).toEqual({ accepted: 10_000, ignored: 0 })
    const more = event({ count: 1_000_000 })
    const answer = await report(shop, Array(1000).fill(more))
    expect(answer).toEqual({ accepted: 10_000, ignored: 999_990_000 })
    await expect.poll(() => metrics(shop)).toMatchObject({ totalEvaluations: { value: 20_000 } })
  })

  it('The limit of counted evaluations applies to each flag separately', async () => {
    const shop = await openShop()
    await call(shop.flags, `/projects/${shop.mine.projectId}/flags`, {
      headers: { authorization: `Bearer ${shop.mine.tokens.editor}` },
      body: { key: 'sale', type: 'boolean' },
    })
    const sale = event({ flag_key: 'sale', variation_key: null, count: 10_000 })
    const answer = await report(shop, [event({ count: 10_000 }), sale, sale])
    expect(answer).toEqual({ accepted: 20_000, ignored: 10_000 })
  })

  it('The events of a flag use up the limit in the order of the request', async () => {
    const shop = await openShop()
    const events = [
      event({ count: 6000 }),
      event({ variation_key: 'light', count: 6000 }),
      event({ count: 1 }),
    ]
    expect(await report(shop, events)).toEqual({ accepted: 10_000, ignored: 2001 })
    await expect
      .poll(() => metrics(shop))
      .toMatchObject({
        variationPerformance: [
          { key: 'dark', evaluations: 6000 },
          { key: 'light', evaluations: 4000 },
        ],
      })
  })

  it('Ignored events do not use up the limit', async () => {
    const shop = await openShop()
    shop.clock.set(shop.clock.now() + DAY + 1)
    const events = [
      event({ from: '2030-01-02T00:00:00Z', variation_key: 'unknown', count: 10_000 }),
      event({ from: NOW, count: 10_000 }),
      event({ from: '2030-01-02T00:00:00.001Z', count: 10_000 }),
    ]
    expect(await report(shop, events)).toEqual({ accepted: 10_000, ignored: 20_000 })
  })

  it('The duration of an event is reduced in proportion to its counted evaluations', async () => {
    const shop = await openShop()
    await report(shop, [event({ count: 20_000, micros: 4_000_002 })])
    await expect.poll(() => totals(shop)).toMatchObject([{ count: 10_000, micros: 2_000_001 }])
  })

  it('The duration of each reported evaluation is limited to 100 ms', async () => {
    const shop = await openShop()
    await report(shop, [
      event({ count: 3, micros: 3_600_000_000 }),
      event({ variation_key: 'light', count: 3, micros: 300_000 }),
    ])
    const expected = { count: 3, micros: 300_000 }
    await expect.poll(() => totals(shop)).toMatchObject([expected, expected])
    await expect.poll(() => metrics(shop)).toMatchObject({ avgResponseTime: { value: '100ms' } })
  })

  it('Reports with a client key have the source `client` and are marked in the metrics', async () => {
    const shop = await openShop()
    await evaluate(shop.flags, shop.mine.clientKey, { kind: 'user', key: 'ada' })
    await report(shop, [event({ count: 5 })], shop.mine.serverKey)
    await report(shop, [event({ count: 7 })])
    await expect
      .poll(() => totals(shop))
      .toMatchObject([
        { source: 'client', count: 7 },
        { source: 'sdk', count: 5 },
        { source: 'rest', count: 1 },
      ])
    await expect
      .poll(() => metrics(shop))
      .toMatchObject({
        totalEvaluations: { value: 13, change: 100 },
        client_reported: { value: 7, change: 100 },
      })
  })

  it('At most one user is counted for each counted evaluation', async () => {
    const shop = await openShop()
    await report(shop, [
      event({ count: 2, context_keys: keys(50, 'a') }),
      event({ variation_key: 'unknown', count: 50, context_keys: keys(50, 'b') }),
      event({ count: 9998, context_keys: keys(3, 'c') }),
      event({ count: 50, context_keys: keys(50, 'd') }),
    ])
    await expect.poll(() => metrics(shop)).toMatchObject({ uniqueUsers: { value: 5 } })
  })

  it('Reports with a server key are not limited and not marked', async () => {
    const shop = await openShop()
    const most = event({ count: 1_000_000, micros: 3_600_000_000 })
    const slow = event({
      variation_key: 'light',
      micros: 3_600_000_000,
      context_keys: keys(9, 'a'),
    })
    const answer = await report(shop, [most, most, slow], shop.mine.serverKey)
    expect(answer).toEqual({ accepted: 2_000_001, ignored: 0 })
    await expect
      .poll(() => totals(shop))
      .toMatchObject([
        { source: 'sdk', count: 2_000_000, micros: 7_200_000_000 },
        { source: 'sdk', count: 1, micros: 3_600_000_000 },
      ])
    await expect
      .poll(() => metrics(shop))
      .toMatchObject({
        uniqueUsers: { value: 9 },
        client_reported: { value: 0, change: 0 },
      })
  })
})
