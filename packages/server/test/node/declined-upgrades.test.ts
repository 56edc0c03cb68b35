import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { createServer as createEncrypted } from 'node:https'
import type { AddressInfo } from 'node:net'
import { connect as connectEncrypted } from 'node:tls'
import { beforeEach, describe, expect, it } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import { toNodeHandler } from '../../src/node/http.ts'
import { attachWebSocket } from '../../src/node/websocket.ts'
import { allInMemory } from '../capabilities.ts'
import { flagChange, publish, type SeededEnvironment, seed, textFlag } from '../seed.ts'
import { type Listening, listen } from './listening.ts'
import { evaluateRequest, type RawAnswer, RawConnection } from './raw-connection.ts'

let live: SeededEnvironment
let flags: FlagServer
let listening: Listening

beforeEach(async () => {
  const memory = allInMemory()
  ;({ live } = await seed(memory.storage))
  await publish(memory, live.environmentId, flagChange(textFlag('banner', 'hello')))
  flags = createFlagServer(memory)
  listening = await listen(toNodeHandler(flags))
  attachWebSocket(listening.server, flags)
  return async () => {
    await listening.close()
    await flags.close()
  }
})

const H2C = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQ']
const BODY = JSON.stringify({ context: { kind: 'user', key: 'user-1' } })

const open = () => RawConnection.open(listening.port)
const evaluation = (headers: readonly string[] = []) => evaluateRequest(live.sdkKey, BODY, headers)
/** Returns the parts of an answer that do not depend on the time and the connection. */
const essence = (answer: RawAnswer | undefined) => [
  answer?.status,
  answer?.text.replace(/"request_id":"[^"]*"/, ''),
  answer?.headers.get('etag'),
  answer?.headers.get('content-type'),
]

describe('Requests that ask for an upgrade to another protocol than WebSocket', () => {
  it.each([
    ['POST', '/evaluator/evaluate', BODY],
    ['POST', '/evaluator/events', '{"events":[]}'],
    ['POST', '/evaluator/poll', JSON.stringify({ context: {}, since: '"x"' })],
    ['GET', '/evaluator/flag-set', ''],
    ['POST', '/ofrep/v1/evaluate/flags', '{"context":{"targetingKey":"a"}}'],
    ['POST', '/ofrep/v1/evaluate/flags/banner', '{"context":{"targetingKey":"a"}}'],
    ['GET', '/ofrep/v1/events?token=x', ''],
    ['OPTIONS', '/evaluator/evaluate', ''],
    ['GET', '/health', ''],
    ['GET', '/ws/sdk', ''],
    ['GET', '/unknown', ''],
  ])('%s %s returns the same as without the upgrade', async (method, path, body) => {
    const request = (headers: readonly string[]) =>
      [
        `${method} ${path} HTTP/1.1`,
        'Host: flags.test',
        `x-api-key: ${live.sdkKey}`,
        ...headers,
        `Content-Length: ${body.length}`,
        '',
        body,
      ].join('\r\n')
    const plain = await open()
    await plain.send(request(['Connection: keep-alive']))
    const upgrading = await open()
    await upgrading.send(request(H2C))
    const answer = await plain.answer()
    expect(answer?.status).toBeDefined()
    expect(essence(await upgrading.answer())).toEqual(essence(answer))
    for (const connection of [plain, upgrading]) connection.close()
  })

  it.each([
    'h2c',
    'TLS/1.0',
    'HTTP/2.0',
    'IRC/6.9',
    'websocket2',
    'h2c, websocket',
    'x'.repeat(5000),
  ])('A request with `Upgrade: %.20s` is served with and without a body', async (protocol) => {
    const connection = await open()
    const headers = ['Connection: Upgrade', `Upgrade: ${protocol}`]
    await connection.send(evaluation(headers))
    expect((await connection.answer())?.text).toBe('{"banner":"hello"}')
    await connection.send(`GET /health HTTP/1.1\r\nHost: a\r\n${headers.join('\r\n')}\r\n\r\n`)
    expect((await connection.answer())?.status).toBe(200)
    connection.close()
  })

  it('A body that arrives slowly is read', async () => {
    const connection = await open()
    for (const byte of evaluation(H2C)) await connection.send(Buffer.of(byte))
    expect((await connection.answer())?.text).toBe('{"banner":"hello"}')
    connection.close()
  })

  it('A chunked body is read, and requests that follow at once are served', async () => {
    const head = [
      'POST /evaluator/evaluate HTTP/1.1',
      'Host: a',
      `x-api-key: ${live.sdkKey}`,
      ...H2C,
    ]
    const chunked = [
      ...head,
      'Transfer-Encoding: chunked',
      '',
      BODY.length.toString(16),
      BODY,
      '0',
      '',
      '',
    ]
    const connection = await open()
    await connection.send(Buffer.concat([Buffer.from(chunked.join('\r\n')), evaluation()]))
    for (let n = 0; n < 2; n += 1)
      expect((await connection.answer())?.text).toBe('{"banner":"hello"}')
    connection.close()
  })

  it('A thousand such requests on one connection leave no listeners behind', async () => {
    const warnings: Error[] = []
    const note = (warning: Error) => warnings.push(warning)
    process.on('warning', note)
    const [[socket], connection] = await Promise.all([once(listening.server, 'connection'), open()])
    const counts: number[] = []
    for (let n = 0; n < 1000; n += 1) {
      await connection.send(evaluation(H2C))
      expect((await connection.answer())?.status).toBe(200)
      const names: (string | symbol)[] = socket.eventNames()
      counts.push(names.reduce((sum, name) => sum + socket.listenerCount(name), 0))
    }
    expect(counts.at(-1)).toBe(counts[10])
    expect(warnings).toEqual([])
    process.off('warning', note)
    connection.close()
  })

  it('Such requests are left to the upgrade listeners of the host', async () => {
    listening.server.on('upgrade', ({ headers }, socket) => {
      if (headers.upgrade === 'h2c') socket.end('HTTP/1.1 299 Host\r\nContent-Length: 0\r\n\r\n')
    })
    const connection = await open()
    await connection.send(evaluation(H2C))
    expect((await connection.answer())?.status).toBe(299)
    connection.close()
  })

  it('Such requests of other paths reach the host', async () => {
    await listening.close()
    listening = await listen((request, response) =>
      toNodeHandler(flags)(request, response, () => response.end(`host ${request.url}`)),
    )
    const detach = attachWebSocket(listening.server, flags)
    const connection = await open()
    await connection.send(`GET /shop HTTP/1.1\r\nHost: a\r\n${H2C.join('\r\n')}\r\n\r\n`)
    expect((await connection.answer())?.status).toBe(404)
    detach()
    connection.close()
  })

  it('Such a request is served over TLS', async () => {
    // A shared key instead of a certificate.
    const psk = Buffer.alloc(32, 7)
    const suite = { ciphers: 'PSK-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' } as const
    const options = { ...suite, pskCallback: () => psk }
    const server = createEncrypted(options, toNodeHandler(flags)).listen(0, '127.0.0.1')
    attachWebSocket(server, flags)
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const socket = connectEncrypted({
      ...{ ...suite, port, host: '127.0.0.1', checkServerIdentity: () => undefined },
      pskCallback: () => ({ psk, identity: 'test' }),
    })
    socket.write(evaluation([...H2C.slice(1), 'Connection: Upgrade, close']))
    let text = ''
    for await (const piece of socket) text += piece
    expect(text).toMatch(/^HTTP\/1.1 200 [\s\S]*\r\n\r\n\{"banner":"hello"\}$/)
    server.close()
    server.closeAllConnections()
  })

  it('A client of Node that requests an upgrade receives the response', async () => {
    const request = httpRequest(`${listening.url}/health`, {
      headers: { connection: 'Upgrade', upgrade: 'h2c' },
    })
    request.end()
    const [response] = await once(request, 'response')
    expect(response.statusCode).toBe(200)
    response.resume()
    request.destroy()
  })
})
