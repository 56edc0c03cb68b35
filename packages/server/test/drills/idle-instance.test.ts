import type { Records, Storage } from '@ff/storage'
import { expect, it, onTestFinished } from 'vitest'
import { openMigratedPostgres } from '../../../storage/test/postgres-store.ts'
import { watchPostgres } from '../../../storage/test/postgres-traffic.ts'
import { newId } from '../../src/access/secrets.ts'
import { createFlagServer } from '../../src/flag-server.ts'
import { allInMemory } from '../capabilities.ts'
import { FakeClock } from '../fake-clock.ts'
import { addSdkKey, seed } from '../seed.ts'
import { report, sized } from './scale.ts'

const ENVIRONMENTS = sized({ full: 1000, small: 50 })
const KEYS = sized({ full: 10_000, small: 500 })
const MOST_STATEMENTS = 4
const KILOBYTE = 1000

/** Inserts copies of a record with new ids. Returns the ids. */
async function copy<K extends 'environment' | 'sdkKey'>(
  storage: Storage,
  kind: K,
  { length, copyOf }: { readonly length: number; readonly copyOf: (id: string) => Records[K] },
): Promise<readonly string[]> {
  const ids = Array.from({ length }, newId)
  await storage.transaction('copies', async (tx) => {
    await Promise.all(ids.map((id) => tx.insert(kind, copyOf(id))))
  })
  return ids
}

/** Adds environments and SDK keys, and returns the ids of the environments. */
async function fill(storage: Storage) {
  const { live } = await seed(storage)
  const environment = await storage.find('environment', live.environmentId)
  const [key] = (await storage.list('sdkKey', {})).data
  if (environment === undefined || key === undefined) throw new Error('Nothing to copy.')
  const environmentIds = await copy(storage, 'environment', {
    length: ENVIRONMENTS,
    copyOf: (id) => ({ ...environment, id, key: id }),
  })
  await copy(storage, 'sdkKey', { length: KEYS, copyOf: (id) => ({ ...key, id, hash: id }) })
  return { live, environmentIds }
}

it('An idle instance with many environments and SDK keys sends at most four statements in five seconds', {
  timeout: 600_000,
}, async () => {
  const { storage } = await openMigratedPostgres()
  const { live, environmentIds } = await fill(storage)
  const clock = new FakeClock()
  const flags = createFlagServer({ ...allInMemory(), storage, clock })
  onTestFinished(() => flags.close())
  const traffic = watchPostgres()
  await flags.start()
  for (const environmentId of environmentIds) await flags.allOrThrow({ environmentId }, {})

  const fiveSeconds = async () => {
    traffic.reset()
    await clock.advance(5000)
    await traffic.quiet()
    expect(traffic.statements.at(-1)).toBe('commit')
  }
  const { statements } = traffic
  // The usage of the first evaluations is written first.
  do await fiveSeconds()
  while (statements.length > MOST_STATEMENTS)
  await fiveSeconds()
  report(
    `Idle instance, ${ENVIRONMENTS} environments and ${KEYS} SDK keys: ${statements.length} statements, ${traffic.bytesRead()} bytes in 5 s`,
  )
  expect(statements.length).toBeLessThanOrEqual(MOST_STATEMENTS)
  expect(statements.some((text) => text.includes('"ff_sdk_key"'))).toBe(false)
  expect(traffic.bytesRead()).toBeLessThan(100 * KILOBYTE)

  await addSdkKey(storage, live)
  await fiveSeconds()
  expect(statements.filter((text) => text.includes('from "ff_sdk_key"'))).toHaveLength(1)
})
