import { beforeEach, describe, expect, it } from 'vitest'
import { call } from '../call.ts'
import { settle } from '../fake-clock.ts'
import { addSdkKey, flagChange, OCCASION, publish, rampFlag, textFlag } from '../seed.ts'
import { type OfrepScene, ofrepScene } from './ofrep-scene.ts'

const HOUR_MS = 60 * 60_000
const context = { targetingKey: 'user-1' }

let scene: OfrepScene

beforeEach(async () => {
  scene = await ofrepScene()
  await publish(scene.parts, scene.live.environmentId, flagChange(textFlag('title', 'one')))
  return () => scene.flags.close()
})

/** The open stream of a client. */
interface Stream {
  readonly status: number
  /** The text that was received and not yet returned. */
  text(): string
  /** `true` after the end of the stream. */
  readonly isOver: boolean
  leave(): Promise<void>
}

/** Returns the address of the stream, as an evaluation contains it. */
async function addressOf(key = scene.live.sdkKey): Promise<string> {
  const { body } = await scene.evaluate(context, { key })
  const { eventStreams } = body as { eventStreams: { endpoint: { requestUri: string } }[] }
  return eventStreams[0]?.endpoint.requestUri ?? ''
}

async function open(address: string, headers: Record<string, string> = {}): Promise<Stream> {
  const request = new Request(`http://flags.test${address}`, { headers })
  const response = await scene.flags.fetch(request)
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let [received, isOver] = ['', false]
  const read = async () => {
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      received += decoder.decode(part.value)
    }
    isOver = true
  }
  void read()
  await settle()
  return {
    status: response.status,
    text() {
      const text = received
      received = ''
      return text
    },
    get isOver() {
      return isOver
    },
    leave: async () => reader?.cancel(),
  }
}

/** Opens a stream long after the last change, and discards its first chunk. */
async function openQuiet(): Promise<Stream> {
  const address = await addressOf()
  await (await open(address)).leave()
  await scene.parts.clock.advance(120_000)
  const stream = await open(address)
  expect(stream.text()).toMatch(/^retry: [1-4]\d{3}\nid: 1\.0\n\n$/)
  return stream
}

async function change(value: string): Promise<void> {
  await publish(scene.parts, scene.live.environmentId, flagChange(textFlag('title', value)))
  await settle()
}

const event = (position: string) =>
  `id: ${position}\ndata: {"type":"refetchEvaluation","etag":"${position}"}\n\n`

describe('The event stream of OFREP', () => {
  it('A change is announced within a second, with its position', async () => {
    const stream = await openQuiet()
    await change('two')
    await scene.parts.clock.advance(1000)
    expect(stream.text()).toBe(event('2.0'))
    const answer = await scene.evaluate(context, { query: '?flagConfigEtag=2.0' })
    expect(answer.headers.get('etag')).toContain('"2.0-')
  })

  it('Several changes within a second are announced once', async () => {
    const stream = await openQuiet()
    for (const value of ['two', 'three', 'four']) await change(value)
    await scene.parts.clock.advance(1000)
    expect(stream.text()).toBe(event('4.0'))
  })

  it('A step of a gradual rollout is announced', async () => {
    const start = new Date(scene.parts.clock.now() + HOUR_MS).toISOString()
    await publish(scene.parts, scene.live.environmentId, flagChange(rampFlag('ramp', start, 50)))
    const stream = await open(await addressOf())
    stream.text()
    await scene.parts.clock.advance(HOUR_MS + 1000)
    expect(stream.text()).toContain(event('2.1'))
  })

  it('A comment is sent every 25 seconds', async () => {
    const stream = await openQuiet()
    await scene.parts.clock.advance(50_000)
    expect(stream.text()).toBe(':\n\n:\n\n')
  })

  it('A client that reconnects after a missed change is notified at once', async () => {
    const stream = await openQuiet()
    await stream.leave()
    await change('two')
    await scene.parts.clock.advance(HOUR_MS)
    const again = await open(await addressOf(), { 'last-event-id': '1.0' })
    await scene.parts.clock.advance(0)
    expect(again.text()).toContain(event('2.0'))
    await again.leave()
    const current = await open(await addressOf(), { 'last-event-id': '2.0' })
    await scene.parts.clock.advance(0)
    expect(current.text()).not.toContain('data:')
  })

  it('A change between the evaluation and the opening of the first stream is not lost', async () => {
    const address = await addressOf()
    await change('two')
    await scene.parts.clock.advance(60_000)
    const stream = await open(address)
    await scene.parts.clock.advance(0)
    expect(stream.text()).toContain(event('2.0'))
  })

  it('A client that has seen a newer version elsewhere makes the server read the store', async () => {
    const address = await addressOf()
    // The change feed loses the notification.
    await scene.parts.storage.publish(
      scene.live.environmentId,
      [flagChange(textFlag('title', 'two'))],
      OCCASION,
    )
    const stream = await open(address, { 'last-event-id': '2.0' })
    expect(stream.text()).toContain('id: 2.0\n\n')
  })

  it('A stream counts as a live client, until it is left', async () => {
    const stream = await openQuiet()
    expect(await liveClients()).toBe(1)
    await stream.leave()
    expect(await liveClients()).toBe(0)
    expect(scene.parts.clock.timers).toBeLessThan(10)
  })

  it('A closing server ends its streams', async () => {
    const stream = await openQuiet()
    await scene.flags.close()
    await settle()
    expect(stream.isOver).toBe(true)
  })

  it('Revoking the SDK key ends its streams, and their address is refused afterwards', async () => {
    const { id, sdkKey } = await addSdkKey(scene.parts.storage, scene.live)
    await scene.parts.changeFeed.publish({ type: 'sdkKeys' })
    const address = await addressOf(sdkKey)
    const stream = await open(address)
    const revokedAt = '2030-01-01T00:00:00.000Z'
    await scene.parts.storage.update('sdkKey', id, { revokedAt })
    await scene.parts.changeFeed.publish({ type: 'sdkKeys' })
    await settle()
    expect(stream.isOver).toBe(true)
    expect((await call(scene.flags, address, { method: 'GET' })).status).toBe(401)
  })

  it('A client that never reads is disconnected, and its stream needs no more memory meanwhile', async () => {
    const { body } = await scene.flags.fetch(new Request(`http://flags.test${await addressOf()}`))
    for (let second = 0; second < 76; second += 1) {
      await change(`value-${second}`)
      await scene.parts.clock.advance(1000)
    }
    expect(await liveClients()).toBe(0)
    await body?.cancel()
  })
})

describe('The address of an event stream', () => {
  it('It is the same for an hour, and valid for two', async () => {
    const address = await addressOf()
    await scene.parts.clock.advance(HOUR_MS - 1)
    expect(await addressOf()).toBe(address)
    await scene.parts.clock.advance(HOUR_MS)
    expect(await addressOf()).not.toBe(address)
    expect((await open(address)).status).toBe(200)
    await scene.parts.clock.advance(1)
    const { status, body } = await call(scene.flags, address, { method: 'GET' })
    expect([status, body]).toMatchObject([401, { errorCode: 'GENERAL' }])
  })

  it('It contains a token that opens nothing else, and not the SDK key', async () => {
    const address = await addressOf()
    const token = new URLSearchParams(address.split('?')[1]).get('token') ?? ''
    expect(address).toMatch(/^\/flags\/ofrep\/v1\/events\?token=/)
    expect(address).not.toContain('ff_')
    for (const headers of [{ 'x-api-key': token }, { authorization: `Bearer ${token}` }]) {
      const request = { headers, body: { context } }
      expect((await call(scene.flags, '/flags/ofrep/v1/evaluate/flags', request)).status).toBe(401)
    }
  })

  it('A token that is changed, of another key, or an SDK key in the address is refused', async () => {
    const address = await addressOf()
    const { sdkKey } = await addSdkKey(scene.parts.storage, scene.live)
    await scene.parts.changeFeed.publish({ type: 'sdkKeys' })
    const ofOther = await addressOf(sdkKey)
    const path = '/flags/ofrep/v1/events'
    const [, mac = ''] = /\.([0-9a-f]{64})$/.exec(ofOther) ?? []
    for (const wrong of [
      path,
      `${path}?token=`,
      `${path}?token=${scene.live.sdkKey}`,
      `${path}?api_key=${scene.live.sdkKey}`,
      address.replace(/[0-9a-f]{64}$/, mac),
      address.slice(0, -1),
      `${address}0`,
      address.replace(/\.\d+\./, '.1.'),
      address.replace(/=[^.]+/, '=none'),
    ]) {
      expect((await call(scene.flags, wrong, { method: 'GET' })).status).toBe(401)
    }
    const withKey = { method: 'GET', key: scene.live.sdkKey }
    expect((await call(scene.flags, path, withKey)).status).toBe(401)
  })
})

async function liveClients(): Promise<number> {
  await settle()
  const response = await scene.flags.fetch(new Request('http://flags.test/flags/metrics'))
  const text = await response.text()
  return Number(/ff_live_clients\{transport="poll"\} (\d+)/.exec(text)?.[1])
}
