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
