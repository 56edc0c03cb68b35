import { once } from 'node:events'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createFlagServer } from '@ff/server'
import { toNodeHandler } from '@ff/server/node'
import { expect, it, onTestFinished } from 'vitest'
import { allInMemory } from '../../../server/test/capabilities.ts'
import { until } from '../../../server/test/fake-clock.ts'
import { listen } from '../../../server/test/node/listening.ts'
import { addSdkKey, flagChange, publish, seed, textFlag } from '../../../server/test/seed.ts'
import { countsOf, shared } from '../../../server/test/usage/usage-scene.ts'
import type { Clock } from '../../src/index.ts'
import { createLocalClient } from '../../src/local.ts'
import { flags, user } from '../local/local-scene.ts'

const EVENTS = '/evaluator/events'
/** The number of seconds of the client in a second, so that the test does not wait for its delays. */
const SPEED = 20

const fastClock: Clock = {
  now: () => Date.now(),
  monotonicNow: () => SPEED * performance.now(),
  schedule(delayMs, task) {
    const timer = setTimeout(task, delayMs / SPEED)
    return () => clearTimeout(timer)
  },
}

/** A server and a proxy in front of it. */
async function openScene() {
  const memory = allInMemory()
  const { live } = await seed(memory.storage)
  const { sdkKey } = await addSdkKey(memory.storage, live, { kind: 'server' })
  await publish(memory, live.environmentId, flagChange(textFlag('banner', 'hello')))
  const server = createFlagServer({ ...memory, storage: shared(memory.storage) })
  const origin = await listen(toNodeHandler(server))
  await server.start()
  /** The effects of the proxy on the reports that it receives, in their order. */
  const effects: ('503' | 'lost' | 'forwarded')[] = []
  const proxy = await listen(async (received, response) => {
    const isReport = received.url === EVENTS
    const effect = (isReport && (['503', '503', 'lost'] as const)[effects.length]) || 'forwarded'
    if (effect === '503') {
      response.writeHead(503).end()
    } else {
      const answer = await forwarded(received, origin.port).catch(() => undefined)
      if (effect === 'lost' || answer === undefined) received.socket.destroy()
      else sendBack(answer, response)
    }
    if (isReport) effects.push(effect)
  })
  onTestFinished(async () => {
    await proxy.close()
    await origin.close()
  })
  return { memory, live, sdkKey, server, proxy, effects }
}

/** Returns the answer of the server to a request, after its whole body has arrived. */
async function forwarded(received: IncomingMessage, port: number) {
  const { method, url, headers } = received
  const sent = request({ host: '127.0.0.1', port, method, path: url, headers })
  received.pipe(sent)
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  const body = Buffer.concat(await answer.toArray())
  return { status: answer.statusCode ?? 500, headers: answer.headers, body }
}

function sendBack(answer: Awaited<ReturnType<typeof forwarded>>, response: ServerResponse): void {
  response.writeHead(answer.status, answer.headers).end(answer.body)
}

it('Behind a proxy that refuses two reports and loses an answer, 100 evaluations are counted as 100.', async () => {
  const { memory, live, sdkKey, server, proxy, effects } = await openScene()
  const errors: unknown[] = []
  const local = createLocalClient({
    ...{ url: proxy.url, sdkKey, flags, clock: fastClock, transport: 'long-poll' },
    onError: (error) => errors.push(error),
  })
  onTestFinished(() => local.close())
  await until(() => local.status.isCurrent)
  for (let evaluation = 0; evaluation < 100; evaluation += 1) local.value('banner', user)
  await until(() => effects.at(-1) === 'forwarded')
  await local.close()
  // The server writes all counts when it is closed.
  await server.close()
  expect(effects.slice(0, 3)).toEqual(['503', '503', 'lost'])
  expect(await countsOf({ memory, live }, 'flag-banner')).toEqual({
    'sdk STATIC banner-hello': 100,
  })
  expect(errors).toEqual([])
})
