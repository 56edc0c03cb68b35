import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Storage } from '@ff/storage'
import { expect, it, onTestFinished } from 'vitest'
import { IS_FULL, quantile, report, sized } from '../../../server/test/drills/scale.ts'
import { PostgresProcess } from '../../../storage/test/postgres-process.ts'
import { readFromPostgres } from '../../../storage/test/postgres-schema.ts'
import { withStorage } from './data-file.ts'
import { timed } from './durations.ts'
import { createShop, type RunningInstance, type Shop, startInstance } from './postgres/instances.ts'
import { PACKAGES, pause } from './server-process.ts'

const PROGRAM = fileURLToPath(new URL('counting.js', import.meta.url))
const INSTANCES = sized({ full: 8, small: 2 })
const FLAGS = sized({ full: 1000, small: 40 })
const QUIET_MS = sized({ full: 20_000, small: 500 })
const COUNTING_MS = sized({ full: 60_000, small: 2500 })
/** The pauses between the evaluations of an instance, and between the writes. */
const EVALUATE_EVERY_MS = 100
const WRITE_EVERY_MS = 20
/** One of so many writes changes the organization, and thereby merges the API calls. */
const MERGE_EVERY = 10

/** An instance in a separate process. */
interface CountingInstance {
  /** Evaluates all flags for some time. Resolves with the number of evaluations. */
  readonly count: () => Promise<number>
}

/** Starts an instance. Resolves when it is ready. */
async function startCounting(url: string, { environmentId }: Shop): Promise<CountingInstance> {
  const settings = [url, environmentId, EVALUATE_EVERY_MS, COUNTING_MS].map(String)
  const child = spawn(process.execPath, [...PACKAGES, PROGRAM, ...settings], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  expect((await lines.next()).value).toBe('ready')
  const count = async () => {
    child.stdin.end('begin\n')
    return Number((await lines.next()).value)
  }
  return { count }
}

/** Starts a durable database, which is removed after the test. */
async function startDatabase(): Promise<string> {
  const database = await PostgresProcess.start({ isDurable: true })
  onTestFinished(() => database.remove())
  return database.url
}

/** Creates flags, and returns the ids of all flags. */
async function addFlags({ management }: RunningInstance, shop: Shop): Promise<readonly string[]> {
  const params = { projectId: shop.projectId }
  const ids = [shop.flagId]
  for (let index = 1; index < FLAGS; index += 1) {
    const body = { key: `flag-${index}`, type: 'boolean' } as const
    ids.push((await management.createFlag({ params, body })).id)
  }
  return ids
}

/** Changes a flag again and again. Returns the 99th percentile of the times in milliseconds. */
async function writeP99({ management }: RunningInstance, shop: Shop, forMs: number) {
  const params = { projectId: shop.projectId, flagId: shop.flagId }
  const times: number[] = []
  for (const end = Date.now() + forMs; Date.now() < end; await pause(WRITE_EVERY_MS)) {
    const body = { name: `Name ${times.length}` }
    times.push((await timed(() => management.updateFlag({ params, body }))).ms)
    if (times.length % MERGE_EVERY !== 0) continue
    const merging = { metadataUpdates: { writes: times.length } }
    await management.updateOrganization({ params: { orgId: shop.orgId }, body: merging })
  }
  return quantile(times, 0.99)
}

/** Returns the sum of the counts of a flag. */
async function countOf(storage: Storage, environmentId: string, flagId: string): Promise<number> {
  const totals = await storage.loadEvaluationCounts({ environmentId, flagId, from: '', to: '9' })
  return totals.reduce((sum, { count }) => sum + count, 0)
}

it('Eight instances that count the same flags on PostgreSQL cause no deadlock and lose no count', {
  timeout: 300_000,
}, async () => {
  const url = await startDatabase()
  const writer = await startInstance({ url })
  const shop = await createShop(writer.management)
  const flagIds = await addFlags(writer, shop)
  const starting = Array.from({ length: INSTANCES }, () => startCounting(url, shop))
  const instances = await Promise.all(starting)
  const quiet = await writeP99(writer, shop, QUIET_MS)
  const [busy, ...counts] = await Promise.all([
    writeP99(writer, shop, COUNTING_MS),
    ...instances.map((each) => each.count()),
  ])
  const evaluations = counts.reduce((sum, each) => sum + each, 0)
  report(
    `${INSTANCES} instances, ${FLAGS} flags, ${COUNTING_MS / 1000} s: ${evaluations * FLAGS} counts, p99 of a write ${quiet.toFixed(1)} ms without and ${busy.toFixed(1)} ms with them`,
  )

  const params = { orgId: shop.orgId }
  expect((await writer.management.getOrganization({ params })).apiUsage).toBe(evaluations)
  await writer.close()
  const sums = await withStorage(url, async (storage) => {
    return Promise.all(flagIds.map((id) => countOf(storage, shop.environmentId, id)))
  })
  expect(new Set(sums)).toEqual(new Set([evaluations]))
  const deadlocks = 'select sum(deadlocks) as deadlocks from pg_stat_database'
  expect(await readFromPostgres(deadlocks, url)).toEqual([{ deadlocks: '0' }])
  if (IS_FULL) expect(busy).toBeLessThanOrEqual(2 * quiet)
})
