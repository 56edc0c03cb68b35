import { memory, type Storage } from '@ff/storage'
import { expect, it } from 'vitest'
import { readyReply } from '../../src/http/handler.ts'
import { FakeClock, settle } from '../fake-clock.ts'

it('A server is not ready if the store does not respond within two seconds', async () => {
  const clock = new FakeClock()
  const never = { list: () => new Promise(() => undefined) }
  const silent: Storage = Object.assign(Object.create(memory().storage), never)
  const reply = readyReply(silent, clock)
  const outcome = expect(reply).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await settle()
  await clock.advance(2000)
  await outcome
})
