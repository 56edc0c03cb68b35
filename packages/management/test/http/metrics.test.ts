import { beforeEach, describe, expect, it } from 'vitest'
import { Metrics } from '../../../server/src/http/metrics.ts'
import { evaluate, poll } from '../../../server/test/call.ts'
import { settle } from '../../../server/test/fake-clock.ts'
import { TestSocket } from '../../../server/test/test-socket.ts'
import { type MetricsShop, openMetricsShop } from '../world/metrics-shop.ts'

const context = { kind: 'user', key: 'secret-user' }

let shop: MetricsShop

beforeEach(async () => {
  shop = await openMetricsShop()
  return () => shop.flags.close()
})

async function scrape(token = shop.mine.tokens.platform, flags = shop.flags): Promise<Response> {
  const headers = token === '' ? {} : { authorization: `Bearer ${token}` }
  return flags.fetch(new Request('http://flags.test/metrics', { headers }))
}

/** Returns the value of every sample, by name and labels as in the text. */
async function samples(): Promise<ReadonlyMap<string, number>> {
  const lines = (await (await scrape()).text()).split('\n')
  const values = lines.filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    values.map((line) => {
      const end = line.lastIndexOf(' ')
      return [line.slice(0, end), Number(line.slice(end + 1))]
    }),
  )
}

describe('GET /metrics', () => {
  it('GET /metrics responds in the text format of Prometheus', async () => {
    await evaluate(shop.flags, shop.mine.clientKey, context)
    const response = await scrape()
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-store')
    const text = await response.text()
    expect(text.endsWith('\n')).toBe(true)
    const described = new Map<string, string>()
    for (const line of text.trimEnd().split('\n')) {
      const [, name = '', type = ''] = /^# TYPE (\w+) (counter|gauge|histogram)$/.exec(line) ?? []
      if (name !== '') described.set(name, type)
      if (line.startsWith('#')) continue
      const sample = /^([a-z_]+)(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? -?[\d.e+-]+$/.exec(line)
      expect(line).toBe(sample?.[0])
      const family = sample?.[1]?.replace(/_(bucket|sum|count)$/, '') ?? ''
      expect([line, described.has(family) || described.has(sample?.[1] ?? '')]).toEqual([
        line,
        true,
      ])
    }
    expect(new Set(described.values())).toEqual(new Set(['counter', 'gauge', 'histogram']))
  })

  it('Requests are counted by path family and status', async () => {
    await evaluate(shop.flags, shop.mine.clientKey, context)
    await evaluate(shop.flags, shop.mine.clientKey, context)
    await evaluate(shop.flags, 'ff_wrong', context)
    await evaluate(shop.flags, shop.mine.clientKey, 'no context')
    await shop.ask('GET', '/organizations')
    await shop.ask('GET', '/nowhere')
    const seen = await samples()
    const requests = (family: string, status: number) =>
      seen.get(`ff_requests_total{family="${family}",status="${status}"}`)
    expect(requests('evaluate', 200)).toBe(2)
    expect(requests('evaluate', 401)).toBe(1)
    expect(requests('evaluate', 400)).toBe(1)
    expect(requests('management', 200)).toBe(1)
    expect(requests('management', 404)).toBe(1)
    expect(requests('poll', 200)).toBeUndefined()
  })

  it('The metrics include evaluation durations, live clients, flag sets and dropped usage', async () => {
    await evaluate(shop.flags, shop.mine.clientKey, context)
    const pending = poll(shop.flags, shop.mine.clientKey, { context })
    const connection = shop.flags.acceptSocket(new TestSocket())
    const idle = shop.flags.acceptSocket(new TestSocket())
    const init = { type: 'init', sdkKey: shop.mine.clientKey, context }
    connection.receive(JSON.stringify(init))
    await settle()
    const seen = await samples()
    const evaluations = seen.get('ff_evaluation_duration_seconds_count') ?? 0
    expect(evaluations).toBeGreaterThanOrEqual(2)
    expect(seen.get('ff_evaluation_duration_seconds_bucket{le="+Inf"}')).toBe(evaluations)
    expect(seen.get('ff_evaluation_duration_seconds_sum')).toBeGreaterThan(0)
    expect(seen.get('ff_live_clients{transport="ws"}')).toBe(1)
    expect(seen.get('ff_live_clients{transport="poll"}')).toBe(1)
    expect(seen.get('ff_sockets')).toBe(2)
    expect(seen.get('ff_sockets_pending')).toBe(1)
    expect(seen.get('ff_sockets_displaced_total')).toBe(0)
    expect(seen.get('ff_flag_sets')).toBe(1)
    expect(seen.get('ff_flag_set_versions_total')).toBe(1)
    for (const what of ['evaluations', 'contexts', 'requests', 'flags', 'users']) {
      expect(seen.get(`ff_usage_dropped_total{what="${what}"}`)).toBe(0)
    }
    expect(seen.get('ff_usage_pending')).toBeGreaterThanOrEqual(0)
    expect(seen.get('ff_job_failures_total{job="delete expired data"}')).toBe(0)
    expect(seen.get('process_resident_memory_bytes')).toBeGreaterThan(1e7)
    for (const each of [connection, idle]) shop.flags.releaseSocket(each)
    await shop.clock.advance(61_000)
    await pending
    expect((await samples()).get('ff_sockets')).toBe(0)
    expect((await samples()).get('ff_sockets_pending')).toBe(0)
  })

  it('The metrics contain no key, name or id of a flag, user or organization', async () => {
    await evaluate(shop.flags, shop.mine.clientKey, context)
    await shop.ask('GET', `/projects/${shop.mine.projectId}/flags/${shop.mine.flag.id}`)
    await shop.ask('GET', '/secret-path')
    const text = await (await scrape()).text()
    expect(text).not.toMatch(/theme|dark|secret|mine|shop/i)
    expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}/)
  })

  it('GET /metrics requires the role platform unless metricsArePublic is set', async () => {
    for (const role of ['owner', 'admin', 'editor', 'viewer'] as const) {
      expect((await scrape(shop.mine.tokens[role])).status).toBe(403)
    }
    for (const token of ['', 'nonsense', shop.mine.serverKey]) {
      const response = await scrape(token)
      expect(response.status).toBe(401)
      expect(await response.text()).not.toContain('ff_')
    }
    const open = await openMetricsShop({ metricsArePublic: true })
    expect((await scrape('', open.flags)).status).toBe(200)
    await open.flags.close()
  })

  it('GET is the only method of /metrics', async () => {
    expect((await shop.ask('POST', '/metrics', shop.mine.tokens.platform)).status).toBe(405)
  })
})

describe('Metrics', () => {
  it('A duration is counted in each histogram bucket with an upper bound that is not below it', () => {
    const metrics = new Metrics()
    for (const micros of [0, 10, 10.5, 100_000, 5_000_000]) metrics.observeEvaluation(micros)
    const text = metrics.toText()
    const bucket = (le: string) =>
      Number(new RegExp(`bucket\\{le="${le.replace('+', '\\+')}"\\} (\\d+)`).exec(text)?.[1])
    expect([bucket('0.00001'), bucket('0.000025'), bucket('0.01')]).toEqual([2, 3, 3])
    expect([bucket('0.1'), bucket('+Inf')]).toEqual([4, 5])
    expect(text).toContain('ff_evaluation_duration_seconds_count 5')
    expect(text).toMatch(/ff_evaluation_duration_seconds_sum 5\.1000205/)
  })

  it('Special characters in label values are escaped', () => {
    const metrics = new Metrics()
    const read = () => [{ labels: { job: 'a "b"\\\n' }, value: 1 }]
    metrics.watch({ name: 'x', type: 'gauge', help: 'X.', read })
    expect(metrics.toText()).toContain('x{job="a \\"b\\"\\\\\\n"} 1')
  })
})
