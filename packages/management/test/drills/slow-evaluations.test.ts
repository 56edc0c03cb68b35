import { describe, expect, it, onTestFinished } from 'vitest'
import { IS_FULL, quantile, report, sized } from '../../../server/test/drills/scale.ts'
import { evaluateRequest, RawConnection } from '../../../server/test/node/raw-connection.ts'
import { World } from '../world/world.ts'
import { createDataFile, type DataFile, withStorage } from './data-file.ts'
import { pause, type ServerProcess, startServer } from './server-process.ts'

const QUIET_MS = sized({ full: 10_000, small: 500 })
const ATTACK_MS = sized({ full: 30_000, small: 1500 })
const CONNECTIONS = 32

interface Rule {
  readonly operator: string
  readonly value: string
}

/** Creates a flag for each rule, and a client key with the default rate limit. Returns the key. */
async function addAttacker({ path, tenant }: DataFile, rules: readonly Rule[]): Promise<string> {
  return withStorage(path, async (storage) => {
    const world = await World.create(storage)
    const token = tenant.tokens.editor
    const project = `/projects/${tenant.project.id}`
    for (const [index, { operator, value }] of rules.entries()) {
      const body = { key: `list-${index}`, type: 'boolean' }
      const { data: flag } = await world.call('POST', `${project}/flags`, { token, body })
      const path = `${project}/envs/${tenant.live.id}/flags/${flag.id}/targeting-rules`
      const conditions = [{ attribute: 'it', operator, value }]
      const [variation] = flag.variations
      const rule = { name: 'list', kind: 'custom', conditions, variation_id: variation.id }
      expect((await world.call('POST', path, { token, body: rule })).status).toBe(201)
    }
    const params = { projectId: tenant.project.id, environmentId: tenant.live.id }
    const body = { name: 'public', kind: 'client' } as const
    return (await world.management.createSdkKey({ params, body })).key
  })
}

interface Times {
  readonly health: readonly number[]
  readonly neighbour: readonly number[]
}

/** Measures the response times of `/health` and of another organization's evaluations. */
async function measure({ url }: ServerProcess, key: string, forMs: number): Promise<Times> {
  const endsAt = performance.now() + forMs
  const probe = async (request: Buffer) => {
    const connection = await RawConnection.open(Number(new URL(url).port))
    const times: number[] = []
    while (performance.now() < endsAt) {
      const startedAt = performance.now()
      await connection.send(request)
      expect((await connection.answer())?.status).toBe(200)
      times.push(performance.now() - startedAt)
      await pause(10)
    }
    connection.close()
    return times.sort((left, right) => left - right)
  }
  const body = JSON.stringify({ context: { kind: 'user', key: 'user-1' } })
  const [health, neighbour] = await Promise.all([
    probe(Buffer.from('GET /health HTTP/1.1\r\nHost: flags.test\r\n\r\n')),
    probe(evaluateRequest(key, body)),
  ])
  return { health, neighbour }
}

/** Sends a request over many connections as often as possible. Returns the responses by status. */
async function attack({ url }: ServerProcess, request: Buffer, forMs: number) {
  const endsAt = performance.now() + forMs
  const counts = new Map<number, number>()
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const connection = await RawConnection.open(Number(new URL(url).port))
      onTestFinished(() => connection.close())
      while (performance.now() < endsAt) {
        await connection.send(request)
        const { status = 0 } = (await connection.answer()) ?? {}
        counts.set(status, (counts.get(status) ?? 0) + 1)
        if (status !== 200) await pause(100)
      }
    }),
  )
  return counts
}

/** Measures and reports a quiet phase and an attack. The limits are asserted only at full size. */
async function runDrill(name: string, rules: readonly Rule[], it: readonly string[]) {
  const file = await createDataFile()
  const key = await addAttacker(file, rules)
  const server = await startServer(file.path)
  const request = evaluateRequest(key, JSON.stringify({ context: { kind: 'user', key: 'u', it } }))
  // Lets the engine compile the code of the attack before it is measured.
  await attack(server, request, 200)
  const quiet = await measure(server, file.bystanderKey, QUIET_MS)
  const [attacked, counts] = await Promise.all([
    measure(server, file.bystanderKey, ATTACK_MS),
    attack(server, request, ATTACK_MS),
  ])
  const p95 = {
    quiet: quantile(quiet.neighbour, 0.95),
    attacked: quantile(attacked.neighbour, 0.95),
  }
  const health = quantile(attacked.health, 0.99)
  report(
    `${name}: bodies of ${(request.length / 1024).toFixed(0)} KiB, answers ` +
      `${[...counts].map(([status, count]) => `${count} × ${status}`).join(', ')}; another ` +
      `organization's p95 ${p95.quiet.toFixed(1)} → ${p95.attacked.toFixed(1)} ms; ` +
      `/health p99 ${health.toFixed(1)} ms`,
  )
  for (const status of counts.keys()) expect([200, 429]).toContain(status)
  expect(counts.get(200)).toBeGreaterThan(0)
  if (IS_FULL) {
    expect(health).toBeLessThan(50)
    expect(p95.attacked - p95.quiet).toBeLessThanOrEqual(20)
  }
  return counts
}

describe('evaluations that take long', () => {
  it('Evaluations with the longest lists and contexts do not slow down other organizations', async () => {
    const listOf = (index: number) =>
      JSON.stringify(
        Array.from({ length: 130 }, (_, at) => 'a'.repeat(490 - at) + 'b'.repeat(1 + at + index)),
      )
    const rules = Array.from({ length: 6 }, (_, index) => {
      return { operator: 'contains', value: listOf(index) }
    })
    expect(rules[5]?.value.length).toBeGreaterThan(60_000)
    expect(rules[5]?.value.length).toBeLessThanOrEqual(65_536)
    const longest = Array.from({ length: 31 }, () => 'a'.repeat(8192))
    await runDrill('six long lists', rules, longest)
  })

  it('Evaluations of a rule with a thousand domains do not slow down other organizations', async () => {
    const domains = Array.from({ length: 1000 }, (_, index) => `@customer-${index}.example.com`)
    const rule = { operator: 'ends_with', value: JSON.stringify(domains) }
    const addresses = Array.from(
      { length: 440 },
      (_, index) => `user-${index}@customer.example.com`,
    )
    await runDrill('a thousand domains', [rule], addresses)
  })
})
