import { memory, type Storage } from '@ff/storage'
import { expect, it } from 'vitest'
import { silentLogger } from '../../src/runtime/logger.ts'
import { StoreConnection } from '../../src/snapshots/store-connection.ts'
import { FakeClock, settle } from '../fake-clock.ts'

it('A store that does not respond within two seconds makes the server stale since its last contact', async () => {
  const clock = new FakeClock()
  const never = { list: () => new Promise(() => undefined) }
  const storage: Storage = Object.assign(Object.create(memory().storage), never)
  const connection = new StoreConnection({
    storage,
    clock,
    keys: { checkedAt: clock.now() - 1000 },
    jobs: { readOnlySince: undefined },
    restore: async () => false,
    onRestored: () => undefined,
    connect: async () => undefined,
    logger: silentLogger,
  })
  await connection.start()
  const reading = connection.readStatus()
  await settle()
  await clock.advance(2000)
  expect(await reading).toEqual({ status: 'stale', since: '2029-12-31T23:59:59.000Z' })
})

it('A store that can be read but accepts no changes makes the server read-only', async () => {
  const clock = new FakeClock()
  const jobs: { readOnlySince: number | undefined } = { readOnlySince: undefined }
  const { storage } = memory()
  await storage.migrate()
  const connection = new StoreConnection({
    ...{ storage, clock, jobs, keys: { checkedAt: clock.now() } },
    restore: async () => false,
    onRestored: () => undefined,
    connect: async () => undefined,
    logger: silentLogger,
  })
  await connection.start()
  expect(await connection.readStatus()).toEqual({ status: 'ready' })
  jobs.readOnlySince = clock.now() - 2000
  expect(await connection.readStatus()).toEqual({
    status: 'read-only',
    since: '2029-12-31T23:59:58.000Z',
  })
  jobs.readOnlySince = undefined
  expect(await connection.readStatus()).toEqual({ status: 'ready' })
})
