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
/** Rounds with and without counting alternate, because other load of the machine changes. */
const ROUNDS = sized({ full: 3, small: 1 })
const COUNTING_MS = sized({ full: 20_000, small: 2500 })
const QUIET_MS = sized({ full: 10_000, small: 500 })
/** The time after which the instances have written their usage. */
const SETTLE_MS = sized({ full: 12_000, small: 0 })
/** The pauses between the evaluations of an instance, and between the writes. */
const EVALUATE_EVERY_MS = 100
const WRITE_EVERY_MS = 20
/** One of so many writes changes the organization, and thereby merges the API calls. */
const MERGE_EVERY = 10

/** An instance in a separate process. */
interface CountingInstance {
  /** Evaluates all flags for one round. Resolves with the number of evaluations so far. */
  readonly count: () => Promise<number>
  /** Writes the usage and ends the process. */
  readonly close: () => Promise<void>
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
  const nextLine = async () => (await lines.next()).value
  expect(await nextLine()).toBe('ready')
  const count = async () => {
    child.stdin.write('count\n')
    return Number(await nextLine())
  }
  const close = async () => {
    child.stdin.end()
    expect(await nextLine()).toBe('closed')
  }
  return { count, close }
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

/** Changes a flag again and again. Returns the times in milliseconds. */
async function timesOfWrites(
  { management }: RunningInstance,
  shop: Shop,
  forMs: number,
): Promise<readonly number[]> {
  const params = { projectId: shop.projectId, flagId: shop.flagId }
  const times: number[] = []
  for (const end = Date.now() + forMs; Date.now() < end; await pause(WRITE_EVERY_MS)) {
    const body = { name: `Name ${performance.now()}` }
    times.push((await timed(() => management.updateFlag({ params, body }))).ms)
    if (times.length % MERGE_EVERY !== 0) continue
    const merging = { metadataUpdates: { writes: times.length } }
    await management.updateOrganization({ params: { orgId: shop.orgId }, body: merging })
  }
  return times
}

function describeTimes(times: readonly number[]): string {
  const [median, p90, p99] = [0.5, 0.9, 0.99].map((share) => quantile(times, share).toFixed(1))
  return `${median} ms (median), ${p90} ms (p90), ${p99} ms (p99)`
}

/** Returns the sum of the counts of a flag. */
async function countOf(storage: Storage, environmentId: string, flagId: string): Promise<number> {
  const totals = await storage.loadEvaluationCounts({ environmentId, flagId, from: '', to: '9' })
  return totals.reduce((sum, { count }) => sum + count, 0)
}

it('Eight instances that count the same flags on PostgreSQL cause no deadlock and lose no count', {
  timeout: 600_000,
}, async () => {
  const url = await startDatabase()
  const writer = await startInstance({ url })
  const shop = await createShop(writer.management)
  const flagIds = await addFlags(writer, shop)
  const starting = Array.from({ length: INSTANCES }, () => startCounting(url, shop))
  const instances = await Promise.all(starting)
  const [quiet, busy]: [number[], number[]] = [[], []]
  let counts: readonly number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    await pause(SETTLE_MS)
    quiet.push(...(await timesOfWrites(writer, shop, QUIET_MS)))
    const counting = Promise.all(instances.map((each) => each.count()))
    busy.push(...(await timesOfWrites(writer, shop, COUNTING_MS)))
    counts = await counting
  }
  await Promise.all(instances.map((each) => each.close()))
  const evaluations = counts.reduce((sum, each) => sum + each, 0)
  report(
    `${INSTANCES} instances, ${FLAGS} flags, ${(ROUNDS * COUNTING_MS) / 1000} s: ` +
      `${evaluations * FLAGS} counts; a write takes ${describeTimes(quiet)} without, and ` +
      `${describeTimes(busy)} with them`,
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
  if (IS_FULL) expect(quantile(busy, 0.99)).toBeLessThanOrEqual(2 * quantile(quiet, 0.99))
})
