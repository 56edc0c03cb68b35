import type { Records } from '@ff/storage'
import { describe, expect, it } from 'vitest'
import { JobLease } from '../../../server/src/runtime/job-lease.ts'
import { Jobs } from '../../../server/src/runtime/jobs.ts'
import { silentLogger } from '../../../server/src/runtime/logger.ts'
import { allInMemory } from '../../../server/test/capabilities.ts'
import { FakeClock } from '../../../server/test/fake-clock.ts'
import { seed } from '../../../server/test/seed.ts'
import { retentionJob } from '../../src/organizations/retention.ts'
import { openMetricsShop } from '../world/metrics-shop.ts'
import { contextSampleIn } from '../world/scene.ts'
import { stores } from '../world/stores.ts'

const HOUR = 60 * 60_000
const DAY = 24 * HOUR
const environmentId = '00000000-0000-4000-8000-000000000006'

function sketch(hour: string): Records['userSketch'] {
  const place = { environmentId, flagId: null, hour, instanceId: 'one' }
  const versions = { keyKind: 'server', firstVersion: 1, lastVersion: 1 } as const
  return { id: crypto.randomUUID(), ...place, ...versions, registers: '' }
}

function remembered(expiresAt: string): Records['idempotencyRecord'] {
  const id = crypto.randomUUID()
  const frame = { createdAt: expiresAt, updatedAt: expiresAt, deletedAt: null, revision: 1 }
  return { id, scope: id, bodyHash: '', result: null, expiresAt, ...frame }
}

describe.each(stores)('retention in %s', (_name, open) => {
  it('The retention job deletes expired data and nothing else', async () => {
    const { storage, clean } = open()
    const clock = new FakeClock()
    await storage.migrate()
    const at = (ms: number) => new Date(clock.now() + ms).toISOString()
    const tenant = { live: { id: environmentId }, orgId: environmentId } as never
    for (const ms of [-90 * DAY, -31 * DAY, -30 * DAY - 1, -30 * DAY]) {
      await storage.recordContextSamples([
        contextSampleIn(tenant, { firstSeen: at(ms), lastSeen: at(ms) }),
      ])
    }
    for (const ms of [-3 * DAY - HOUR, -3 * DAY]) await storage.insert('userSketch', sketch(at(ms)))
    for (const ms of [-1, 1]) await storage.insert('idempotencyRecord', remembered(at(ms)))
    const outcome = { variationId: null, reason: 'STATIC', source: 'rest' } as const
    const own = { instanceId: 'instance', count: 1, micros: 0 }
    const counted = { environmentId, flagId: 'flag', ...outcome, ...own }
    const minutes = [-3 * DAY - 60_000, -3 * DAY].map(at)
    await storage.addEvaluationCounts(minutes.map((minute) => ({ ...counted, minute })))

    for (let twice = 0; twice < 2; twice += 1) await retentionJob(storage, clock).run()

    const kept = async (kind: 'observedContext' | 'userSketch' | 'idempotencyRecord') =>
      (await storage.list(kind, {})).data
    expect(await kept('observedContext')).toMatchObject([{ lastSeen: at(-30 * DAY) }])
    expect(await kept('userSketch')).toMatchObject([{ hour: at(-3 * DAY) }])
    expect(await kept('idempotencyRecord')).toMatchObject([{ expiresAt: at(1) }])
    const ever = { environmentId, flagId: 'flag', from: '2000', to: '3000' }
    expect(await storage.loadEvaluationCounts(ever)).toMatchObject([{ count: 1 }])
    await storage.close()
    clean()
  })
})

it('A running server deletes expired data within an hour', async () => {
  const shop = await openMetricsShop()
  const place = { live: { id: shop.mine.live }, orgId: shop.mine.orgId } as never
  await shop.storage.recordContextSamples([
    contextSampleIn(place, { lastSeen: '2029-11-30T00:00:00.000Z' }),
    contextSampleIn(place, { lastSeen: '2029-12-31T00:00:00.000Z' }),
  ])
  await shop.clock.advance(HOUR)
  expect((await shop.storage.list('observedContext', {})).total).toBe(1)
  await shop.flags.close()
})

it('The retention job moves the API calls of all instances to their organizations', async () => {
  const { storage } = allInMemory()
  const { orgId } = await seed(storage)
  const before = await storage.find('organization', orgId)
  const gone = crypto.randomUUID()
  const rows = [orgId, gone].flatMap((organizationId) =>
    ['one', 'two'].map((instanceId) => ({ organizationId, instanceId, calls: 4 })),
  )
  await storage.addApiCalls(rows)
  for (let twice = 0; twice < 2; twice += 1) await retentionJob(storage, new FakeClock()).run()
  expect(await storage.find('organization', orgId)).toEqual({ ...before, apiUsage: 8 })
  expect(await storage.loadApiCalls()).toEqual(new Map())
})

it('A failure of the retention job is counted, and the next run succeeds', async () => {
  const { storage } = allInMemory()
  const clock = new FakeClock()
  const job = retentionJob(storage, clock)
  const options = { clock, logger: silentLogger }
  const lease = new JobLease({ ...options, storage, jobs: 'on', holder: 'instance' })
  const jobs = new Jobs([job], { ...options, lease })
  await jobs.runNow(job)
  expect([...jobs.failures]).toEqual([[job.name, 1]])
  await storage.migrate()
  await jobs.runNow(job)
  expect([...jobs.failures]).toEqual([[job.name, 1]])
  await jobs.stop()
})
