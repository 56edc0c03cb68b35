import { compileFlagSet } from '@ff/core'
import type { Storage } from '@ff/storage'
import { expect, it } from 'vitest'
import { evaluateTimed } from '../../../server/src/evaluation/evaluated.ts'
import { systemClock } from '../../../server/src/runtime/clock.ts'
import { silentLogger } from '../../../server/src/runtime/logger.ts'
import { UsageRecorder } from '../../../server/src/usage/usage-recorder.ts'
import { quantile, report, sized } from '../../../server/test/drills/scale.ts'
import { textFlag } from '../../../server/test/seed.ts'
import { openMigratedPostgres, openPostgres } from '../../../storage/test/postgres-store.ts'
import { DEADLOCK, watchPostgres } from '../../../storage/test/postgres-traffic.ts'
import { type Tenant, World } from '../world/world.ts'
import { pause } from './server-process.ts'

const RECORDERS = 8
const FLAGS = sized({ full: 1000, small: 40 })
const QUIET_MS = sized({ full: 20_000, small: 500 })
const COUNTING_MS = sized({ full: 60_000, small: 2500 })
/** The pauses between the evaluations of a recorder, and between the writes. */
const EVALUATE_EVERY_MS = 100
const WRITE_EVERY_MS = 20
/** One of so many writes changes the organization, and thereby merges the API calls. */
const MERGE_EVERY = 10

const keys = Array.from({ length: FLAGS }, (_, index) => `flag-${index}`)
const flagSet = compileFlagSet({
  version: 1,
  flags: keys.map((key) => textFlag(key, 'x')),
  segments: [],
})

/** Counts the evaluations of all flags on one instance. Returns the number of evaluations. */
async function count(storage: Storage, { live }: Tenant): Promise<number> {
  await storage.migrate()
  const cache = { samplingOf: () => undefined }
  const metrics = { observeEvaluation: () => undefined }
  const own = { storage, cache, metrics }
  const usage = new UsageRecorder({ ...own, clock: systemClock, logger: silentLogger })
  const scope = { environmentId: live.id, kind: 'server' } as const
  let evaluations = 0
  for (const end = Date.now() + COUNTING_MS; Date.now() < end; await pause(EVALUATE_EVERY_MS)) {
    const context = { kind: 'user', key: `user-${evaluations % 10}` }
    usage.requested(scope)
    usage.evaluated(scope, 'rest', evaluateTimed({ flagSet, context, now: Date.now() }))
    evaluations += 1
  }
  await usage.flush()
  await usage.close()
  return evaluations
}

/** Adds a record for each flag, and returns the id of one flag that users change. */
async function addFlags({ management, storage }: World, { project }: Tenant): Promise<string> {
  const params = { projectId: project.id }
  const { id } = await management.createFlag({ params, body: { key: 'changed', type: 'boolean' } })
  const flag = await storage.find('flag', id)
  if (flag === undefined) throw new Error('The flag must exist.')
  await storage.transaction('copies', async (tx) => {
    const copies = keys.map((key) => ({ ...flag, id: `flag-${key}`, key }))
    await Promise.all(copies.map((copy) => tx.insert('flag', copy)))
  })
  return id
}

interface Writes {
  readonly world: World
  readonly tenant: Tenant
  readonly flagId: string
  readonly forMs: number
}

/** Changes a flag again and again. Returns the 99th percentile of the times in milliseconds. */
async function writeP99({ world, tenant, flagId, forMs }: Writes): Promise<number> {
  const { management } = world
  const params = { projectId: tenant.project.id, flagId }
  const times: number[] = []
  for (const end = Date.now() + forMs; Date.now() < end; await pause(WRITE_EVERY_MS)) {
    const startedAt = performance.now()
    await management.updateFlag({ params, body: { name: `Name ${startedAt}` } })
    times.push(performance.now() - startedAt)
    if (times.length % MERGE_EVERY !== 0) continue
    const body = { metadataUpdates: { writes: times.length } }
    await management.updateOrganization({ params: { orgId: tenant.orgId }, body })
  }
  return quantile(times, 0.99)
}

it('Eight instances that count the same flags on PostgreSQL cause no deadlock and lose no count', async () => {
  const { storage, url } = await openMigratedPostgres()
  const world = await World.create(storage)
  const tenant = await world.addTenant('Acme')
  const flagId = await addFlags(world, tenant)
  const traffic = watchPostgres()
  const writes = { world, tenant, flagId }
  const quiet = await writeP99({ ...writes, forMs: QUIET_MS })
  const counted = await Promise.all([
    ...Array.from({ length: RECORDERS }, () => {
      return count(openPostgres({ url, listenUrl: false }).storage, tenant)
    }),
    writeP99({ ...writes, forMs: COUNTING_MS }),
  ])
  const busy = counted.pop() ?? Number.NaN
  const evaluations = counted.reduce((sum, each) => sum + each, 0)
  report(
    `${RECORDERS} recorders, ${FLAGS} flags, ${COUNTING_MS / 1000} s: ${evaluations * FLAGS} counts, p99 of a write ${quiet.toFixed(1)} ms without and ${busy.toFixed(1)} ms with them`,
  )

  expect(traffic.errors).not.toContain(DEADLOCK)
  const params = { orgId: tenant.orgId }
  expect((await world.management.getOrganization({ params })).apiUsage).toBe(evaluations)
  for (const key of keys) {
    const query = { environmentId: tenant.live.id, flagId: `flag-${key}`, from: '', to: '9' }
    const totals = await storage.loadEvaluationCounts(query)
    expect(totals.map(({ count }) => count)).toEqual([evaluations])
  }
})
