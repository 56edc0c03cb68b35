import { expect, it } from 'vitest'
import { IS_FULL, report, sized } from '../../../../server/test/drills/scale.ts'
import { readFromPostgres } from '../../../../storage/test/postgres-schema.ts'
import { newPostgresSchema } from '../../../../storage/test/postgres-store.ts'
import { createShop, evaluateCounter, startInstances } from './instances.ts'

const INSTANCES = sized({ full: 20, small: 6 })
const CONNECTIONS = { readConnections: 2, writeConnections: 2 }
/** The connections of an instance: for reads, for writes, and one that listens. */
const CONNECTIONS_EACH = CONNECTIONS.readConnections + CONNECTIONS.writeConnections + 1

it('Many instances that start at once on an empty database migrate it once, and are ready soon', async () => {
  const { url } = await newPostgresSchema()
  const startedAt = performance.now()
  const instances = await startInstances(INSTANCES, { url, ...CONNECTIONS })
  const readyAfterMs = performance.now() - startedAt
  const connections = await countConnections(url)
  const [first] = instances
  if (first === undefined) throw new Error('There is no instance.')
  const shop = await createShop(first.management)
  for (const instance of instances) {
    await expect.poll(async () => (await evaluateCounter(instance.url, shop.sdkKey)).number).toBe(0)
  }
  report(
    `${INSTANCES} instances that started at once on an empty database were ready after ` +
      `${readyAfterMs.toFixed(0)} ms, with ${connections} connections`,
  )
  expect(connections).toBeLessThanOrEqual(INSTANCES * CONNECTIONS_EACH)
  if (IS_FULL) expect(readyAfterMs).toBeLessThan(10_000)
})

/** Counts the database sessions of the instances. */
async function countConnections(url: string): Promise<number> {
  const name = new URL(url).searchParams.get('application_name')
  const [row] = await readFromPostgres(
    `select count(*) as count from pg_stat_activity where application_name = '${name}'`,
  )
  return Number(row?.['count'])
}
