import { describe, expect, it } from 'vitest'
import { IS_FULL, quantile, report, sized } from '../../../../server/test/drills/scale.ts'
import { openPostgresProxy } from '../../../../storage/test/postgres-proxy.ts'
import { newPostgresSchema, openPostgres } from '../../../../storage/test/postgres-store.ts'
import type { ManagementUseCases } from '../../../src/index.ts'
import {
  createShop,
  type RunningInstance,
  type Shop,
  startInstance,
  startInstances,
} from './instances.ts'

const ROUND_TRIP_MS = 5
const SLOW_ROUND_TRIP_MS = 40
const CHANGES = sized({ full: 60, small: 6 })
const ORGANIZATIONS = sized({ full: 20, small: 6 })
/** The number of changes of each organization, and of the one that is compared with them. */
const CHANGES_EACH = sized({ full: 30, small: 3 })

/** Adds a targeting rule to the flag of a shop. Returns a function that deletes it. */
async function addRule(
  management: ManagementUseCases,
  { projectId, environmentId, flagId }: Shop,
): Promise<() => Promise<unknown>> {
  const params = { projectId, environmentId, flagId }
  const conditions = [{ attribute: 'plan', operator: 'eq', value: 'pro' }]
  const body = { name: 'paying customers', conditions }
  const { id } = await management.createTargetingRule({ params, body })
  return () => management.deleteTargetingRule({ params: { ...params, ruleId: id } })
}

/**
 * Adds rules one after another, so that the flag has at most two. Returns the time of each, and the
 * median of their round trips.
 */
async function addRules(delayMs: number) {
  const { url } = await newPostgresSchema()
  const proxy = await openPostgresProxy(url, delayMs)
  const { flags, management } = await startInstance({ url: proxy.url, listenUrl: false })
  const shop = await createShop(management)
  const member = { id: 'ada', email: 'ada@acme.test', name: 'Ada', orgId: shop.orgId } as const
  const ofMember = flags.as({ ...member, role: 'editor' })
  await addRule(ofMember, shop)
  const [times, trips]: [number[], number[]] = [[], []]
  for (let change = 0; change < CHANGES; change += 1) {
    const [startedAt, tripsOfChange] = [performance.now(), proxy.watch()]
    const deleteRule = await addRule(ofMember, shop)
    times.push(performance.now() - startedAt)
    trips.push(tripsOfChange())
    await deleteRule()
  }
  return { times, trips: quantile(trips, 0.5) }
}

/**
 * Locks the organization of the first shop, and changes all shops at all instances meanwhile. Asserts
 * that only the changes of the first shop wait.
 */
async function changeBesideHeldLock(
  [first, ...others]: readonly Shop[],
  { url, instances }: { url: string; instances: readonly RunningInstance[] },
): Promise<void> {
  const changes = (shop: Shop | undefined) =>
    instances.map(({ management }, place) => shop?.set(management, 1000 + place))
  const { storage } = openPostgres({ url, listenUrl: false })
  await storage.migrate()
  let changed = 0
  let waiting: Promise<unknown> = Promise.resolve()
  await storage.transaction(first?.orgId ?? '', async (tx) => {
    await tx.find('organization', first?.orgId ?? '')
    waiting = Promise.all(changes(first).map((change) => change?.then(() => (changed += 1))))
    await Promise.all(others.flatMap(changes))
    expect(changed).toBe(0)
  })
  await waiting
  expect(changed).toBe(instances.length)
}

describe('changes over a distant PostgreSQL', { timeout: 300_000 }, () => {
  it('A rule change takes at most 8 round trips', async () => {
    // With a long delay, a busy machine has no influence on which requests are sent together.
    const { trips } = await addRules(SLOW_ROUND_TRIP_MS)
    const { times } = await addRules(ROUND_TRIP_MS)
    report(
      `A rule change: ${trips} round trips; at ${ROUND_TRIP_MS} ms for each, ` +
        `${quantile(times, 0.5).toFixed(0)} ms (median), ${quantile(times, 0.99).toFixed(0)} ms (p99)`,
    )
    expect(trips).toBeLessThanOrEqual(8)
  })

  it('Changes of different organizations do not wait for each other', async () => {
    const { url } = await newPostgresSchema()
    const proxy = await openPostgresProxy(url, ROUND_TRIP_MS)
    const instances = await startInstances(2, { url: proxy.url, listenUrl: false })
    const [first] = instances
    if (first === undefined) throw new Error('There is no instance.')
    const shops: Shop[] = []
    for (let n = 0; n < ORGANIZATIONS; n += 1) {
      shops.push(await createShop(first.management, { name: `Organization ${n}` }))
    }
    /** Returns the changes per second when each shop is changed without pause at both instances. */
    const measure = async (changing: readonly Shop[], changes: number) => {
      const startedAt = performance.now()
      const loops = changing.flatMap((shop) =>
        instances.map(async ({ management }, place) => {
          for (let n = place; n < changes; n += instances.length) await shop.set(management, n + 1)
        }),
      )
      await Promise.all(loops)
      return (changing.length * changes * 1000) / (performance.now() - startedAt)
    }
    await measure(shops, 2)
    const alone = await measure(shops.slice(0, 1), 2 * CHANGES_EACH)
    const together = await measure(shops, CHANGES_EACH)
    report(
      `Changes a second at two instances, ${ROUND_TRIP_MS} ms for each round trip: one organization ` +
        `${alone.toFixed(0)}, ${ORGANIZATIONS} organizations ${together.toFixed(0)} ` +
        `(${(together / alone).toFixed(1)}×)`,
    )
    if (IS_FULL) expect(together / alone).toBeGreaterThan(5)
    await changeBesideHeldLock(shops, { url, instances })
  })
})
