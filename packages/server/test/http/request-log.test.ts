import { once } from 'node:events'
import { connect } from 'node:net'
import { FlagError } from '@ff/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import { toNodeHandler } from '../../src/node/http.ts'
import { attachWebSocket } from '../../src/node/websocket.ts'
import type { FlagServerOptions } from '../../src/options.ts'
import { type LogFields, type Logger, silentLogger } from '../../src/runtime/logger.ts'
import { allInMemory } from '../capabilities.ts'
import { FakeClock, until } from '../fake-clock.ts'
import { untilPending } from '../live-clients.ts'
import { type Listening, listen } from '../node/listening.ts'
import { flagChange, publish, type SeededEnvironment, seed, textFlag } from '../seed.ts'

interface Line {
  readonly level: string
  readonly message: string
  readonly fields: LogFields
}

const UUID = /^[0-9a-f-]{36}$/
const context = { kind: 'user', key: 'secret-person' }
const durationMs = expect.any(Number)

let memory: ReturnType<typeof allInMemory>
let live: SeededEnvironment
let lines: Line[]
let url: string
let flags: FlagServer
const open: { close(): Promise<void> }[] = []

const note =
  (level: string) =>
  (message: string, fields: LogFields = {}) =>
    void lines.push({ level, message, fields })
const journal: Logger = {
  debug: note('debug'),
  info: note('info'),
  warn: note('warn'),
  error: note('error'),
}

beforeEach(async () => {
  memory = allInMemory()
  lines = []
  ;({ live } = await seed(memory.storage))
  await publish(memory, live.environmentId, flagChange(textFlag('banner', 'hello')))
  return async () => {
    for (const one of open.splice(0).reverse()) await one.close()
  }
})

async function start(options: FlagServerOptions = {}): Promise<Listening> {
  flags = createFlagServer({ ...memory, logger: journal, ...options })
  await flags.start()
  const listening = await listen(toNodeHandler(flags))
  attachWebSocket(listening.server, flags)
  open.push(flags, listening)
  ;({ url } = listening)
  lines = []
  return listening
}

const headers = (more = {}) => {
  return { 'x-api-key': live.sdkKey, 'content-type': 'application/json', ...more }
}

const post = (path: string, { more = {}, body = { context } as object } = {}) =>
  fetch(url + path, { method: 'POST', headers: headers(more), body: JSON.stringify(body) })

const aborted = () => lines.filter(({ message }) => message === 'Request aborted by the client')

describe('the log of requests', () => {
  it('An evaluation, a probe and the metrics are logged with the level debug.', async () => {
    await start({ metricsArePublic: true })
    expect((await post('/evaluator/evaluate?x=secret')).status).toBe(200)
    for (const path of ['/health', '/ready', '/metrics']) await fetch(url + path)
    const fields = { requestId: expect.stringMatching(UUID), status: 200 }
    expect(lines).toEqual(
      [
        { ...fields, method: 'POST', path: '/evaluator/evaluate', durationMs },
        { ...fields, method: 'GET', path: '/health', durationMs },
        { ...fields, method: 'GET', path: '/ready', durationMs },
        { ...fields, method: 'GET', path: '/metrics', durationMs },
      ].map((each) => ({ level: 'debug', message: 'Request handled', fields: each })),
    )
  })

  it('A path without a route is logged without its text, and its reply has the same id.', async () => {
    await start()
    const response = await fetch(`${url}/secret-token?secret`)
    const requestId = response.headers.get('x-request-id')
    expect([response.status, requestId]).toEqual([404, expect.stringMatching(UUID)])
    const fields = { requestId, method: 'GET', path: '(no route)', status: 404 }
    const line = { level: 'info', message: 'Request handled', fields: { ...fields, durationMs } }
    expect(lines).toEqual([line])
  })

  it('An error reply has an id that pages of other origins can read, and no other reply has one.', async () => {
    await start({ logger: silentLogger })
    const refused = await post('/evaluator/evaluate', { more: { 'x-api-key': 'ff_x' } })
    expect(refused.headers.get('x-request-id')).toMatch(UUID)
    expect(refused.headers.get('access-control-expose-headers')).toContain('X-Request-Id')
    expect(await refused.json()).toEqual({
      error: 'The SDK key is unknown, expired or revoked. Use another SDK key.',
      statusCode: 401,
    })
    expect((await post('/evaluator/evaluate')).headers.get('x-request-id')).toBe(null)
  })

  it('A failure of the server is logged once, with its cause and the id of the reply.', async () => {
    const failure = new Error('The disk is broken.')
    const storage = Object.create(memory.storage, {
      loadFlagSet: { value: () => Promise.reject(failure) },
    })
    await start({ storage })
    const response = await post('/evaluator/evaluate')
    expect(response.status).toBe(500)
    const errors = lines.filter(({ fields }) => fields['requestId'] !== undefined)
    expect(errors).toEqual([
      {
        level: 'error',
        message: 'Request failed',
        fields: {
          requestId: response.headers.get('x-request-id'),
          ...{ method: 'POST', path: '/evaluator/evaluate', status: 500 },
          durationMs: expect.any(Number),
          cause: expect.any(FlagError),
        },
      },
    ])
    expect((errors[0]?.fields['cause'] as FlagError | undefined)?.cause).toBe(failure)
  })

  it.each([
    ['a trusted proxy', true, 'proxy-1.a_b', 'proxy-1.a_b'],
    ['a trusted proxy, if it is long', true, 'x'.repeat(129), UUID],
    ['a trusted proxy, if it has other characters', true, 'a b"c', UUID],
    ['a client', false, 'proxy-1', UUID],
  ])('The id of %s is used or replaced.', async (_who, trustProxy, sent, expected) => {
    await start({ trustProxy })
    const response = await post('/evaluator/none', { more: { 'X-Request-Id': sent } })
    const id = response.headers.get('x-request-id')
    if (typeof expected === 'string') expect(id).toBe(expected)
    else expect(id).toMatch(expected)
    expect(lines.map(({ fields }) => fields['requestId'])).toEqual([id])
  })

  it('A poll is logged when it ends: with a reply, or aborted by the client.', async () => {
    const clock = new FakeClock()
    await start({ clock, metricsArePublic: true })
    const answered = post('/evaluator/poll')
    const abort = new AbortController()
    const sent = { method: 'POST', headers: headers(), body: JSON.stringify({ context }) }
    const gone = fetch(`${url}/evaluator/poll`, { ...sent, signal: abort.signal }).catch(() => '')
    await untilPending(flags, 2)
    lines = lines.filter(({ fields }) => fields['path'] !== '/metrics')
    expect(lines).toEqual([])
    await clock.advance(150)
    abort.abort()
    await gone
    await until(() => aborted().length === 1)
    const fields = { requestId: expect.stringMatching(UUID), method: 'POST' }
    const about = { ...fields, path: '/evaluator/poll', durationMs }
    expect(aborted()).toEqual([
      { level: 'debug', message: 'Request aborted by the client', fields: about },
    ])
    await publish(memory, live.environmentId, flagChange(textFlag('banner', 'changed')))
    expect(await (await answered).json()).toEqual({ banner: 'changed' })
    const line = { level: 'debug', message: 'Request handled', fields: { ...about, status: 200 } }
    expect(lines).toContainEqual(line)
    expect(lines.at(-1)?.fields['durationMs']).toBe(150)
  })

  it('A body that is cut off is no failure of the server.', async () => {
    const { server, port } = await start()
    const arrived = once(server, 'request')
    const socket = connect(port, '127.0.0.1')
    const head = `x-api-key: ${live.sdkKey}\r\ncontent-type: application/json\r\ncontent-length: 99`
    socket.write(`POST /evaluator/evaluate HTTP/1.1\r\nHost: a\r\n${head}\r\n\r\n{"context"`)
    await arrived
    socket.resetAndDestroy()
    await until(() => lines.length > 0)
    expect(lines.map(({ level, fields }) => [level, fields['status']])).toEqual([['debug', 400]])
  })

  it('A body that is cut off is no failure of the server through fetch.', async () => {
    await start()
    const body = new ReadableStream({
      pull: (controller) => controller.error(new DOMException('Aborted', 'AbortError')),
    })
    const init = { method: 'POST', headers: headers(), body, duplex: 'half' }
    const response = await flags.fetch(
      new Request(`${url}/evaluator/evaluate`, init as RequestInit),
    )
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: 'The request body ended too early.', statusCode: 400 },
    ])
    expect(lines.map(({ level }) => level)).toEqual(['debug'])
  })
})

describe('the log of sockets', () => {
  const connectTo = (path: string) => {
    const socket = new WebSocket(url.replace('http', 'ws') + path)
    socket.on('error', () => undefined)
    return socket
  }

  it('A socket is logged without its key when the server or the client closes it.', async () => {
    await start()
    const refused = connectTo('/ws/sdk?apiKey=secret')
    await once(refused, 'open')
    refused.send(JSON.stringify({ type: 'init', sdkKey: `ff_${'a'.repeat(64)}`, context }))
    await once(refused, 'close')
    const client = connectTo('/ws/sdk')
    await once(client, 'open')
    client.send(JSON.stringify({ type: 'init', sdkKey: live.sdkKey, context }))
    await once(client, 'message')
    client.close()
    await until(() => lines.length === 2)
    const path = '/ws/sdk'
    const closing = { closeCode: 4401, closeReason: 'UNAUTHENTICATED' }
    expect(lines).toEqual([
      { level: 'debug', message: 'Socket closed', fields: { path, ...closing, durationMs } },
      { level: 'debug', message: 'Socket closed by the client', fields: { path, durationMs } },
    ])
  })

  it('The reply to a refused upgrade has the id of its line in the log.', async () => {
    await start()
    const socket = connectTo('/elsewhere?secret')
    const [, response] = await once(socket, 'unexpected-response')
    const requestId = response.headers['x-request-id']
    const fields = { requestId, method: 'GET', path: '(no route)', status: 404, durationMs }
    expect(lines).toEqual([{ level: 'info', message: 'Upgrade refused', fields }])
    expect(requestId).toMatch(UUID)
  })
})

it('No method of a logger is called for a request if the logger has the methods of silentLogger.', async () => {
  const calls: string[] = []
  const logger = { ...silentLogger, info: () => void calls.push('info') }
  await start({ logger, metricsArePublic: true })
  expect((await post('/evaluator/evaluate')).status).toBe(200)
  await fetch(`${url}/health`)
  expect(calls).toEqual([])
  await fetch(`${url}/none`)
  expect(calls).toEqual(['info'])
})
