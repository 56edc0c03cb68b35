import type { FlagClientOptions } from '@ff/client'
import { act } from 'react'
import { FakeServer } from '../../client/test/fake-server.ts'
import { FakeTime, seededRandom } from '../../client/test/fake-time.ts'
import { countedClock, FakePage, flags, type Values } from '../../client/test/scene.ts'
import { createFlagHooks } from '../src/index.ts'

export { CONTEXT, flags, type Values } from '../../client/test/scene.ts'

/** The options of a client of a fake server, with their parts. */
export function createScene() {
  const time = new FakeTime()
  const server = new FakeServer(time)
  const page = new FakePage()
  const clock = countedClock(time)
  const errors: unknown[] = []
  const options = {
    url: 'http://flags.test',
    sdkKey: 'ff_1',
    fetch: server.fetch,
    webSocket: server.webSocket,
    lifecycle: page,
    clock,
    random: seededRandom(1),
    onError: (error: unknown) => void errors.push(error),
  } satisfies Partial<FlagClientOptions<Values>>
  return {
    ...{ time, server, page, clock, errors, options },
    hooks: createFlagHooks(flags),
    /** Advances the time of the clients and the server, and renders what has changed. */
    advance: (ms: number) => act(() => time.advance(ms)),
    /** Publishes values, and renders what has changed. */
    publish: (values: Parameters<FakeServer['publish']>[0]) =>
      act(async () => server.publish(values)),
  }
}
