import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { expect, inject, it, onTestFinished } from 'vitest'
import { report, sized } from '../../../../packages/server/test/drills/scale.ts'
import { freePort } from '../../../../packages/storage/test/free-port.ts'
import { ProxyProcess } from '../proxies/proxy-process.ts'
import { RunningStandalone } from '../running-standalone.ts'

/** The times for which nginx and the server keep an idle connection, in seconds. */
const NGINX_S = sized({ full: 60, small: 3 })
const SERVER_S = sized({ full: 76, small: 4 })
const CLIENTS = 100
/** The number of requests of each client, each after another idle time. */
const ROUNDS = 5
const DELAY_MS = 15
const TIMEOUT_MS = sized({ full: 900_000, small: 300_000 })
/** The distance from a time-out within which requests begin, in milliseconds. */
const EDGE_MS = 100

it.runIf(inject('proxies').includes('nginx'))(
  'Requests that reach a proxy when an idle connection ends are never answered with 502',
  { timeout: TIMEOUT_MS },
  async () => {
    const server = new RunningStandalone({
      FF_KEEP_ALIVE_S: String(SERVER_S),
      FF_LOG_LEVEL: 'error',
    })
    onTestFinished(() => server.destroy())
    const port = Number(new URL(await server.listening()).port)
    const direct = await fetch(`http://127.0.0.1:${port}/health`)
    expect(direct.headers.get('keep-alive')).toBe(`timeout=${SERVER_S}`)
    const proxy = await ProxyProcess.start({
      name: 'nginx',
      serverPort: await delayed(port),
      changes: [
        ['keepalive_timeout 60s', `keepalive_timeout ${NGINX_S}s`],
        ['keepalive 64', `keepalive ${CLIENTS}`],
      ],
    })
    onTestFinished(() => proxy.stop())
    const key = /live\s+(ff_[0-9a-f]{64})/.exec(server.output)?.[1] ?? ''
    const statuses = await Promise.all(
      Array.from({ length: CLIENTS }, (_, client) => statusesOf(proxy.url, key, client)),
    )
    const all = statuses.flat()
    const counts = Object.fromEntries(
      [...new Set(all)].map((status) => [status, all.filter((each) => each === status).length]),
    )
    report(`keep-alive: nginx ${NGINX_S} s, server ${SERVER_S} s: ${JSON.stringify(counts)}`)
    expect(counts).toEqual({ 200: CLIENTS * (ROUNDS + 1) })
  },
)

/** Sends requests near the ends of the idle times of the proxy and of the server. */
async function statusesOf(url: string, key: string, client: number): Promise<readonly number[]> {
  const dispatcher = new Agent({ keepAliveTimeout: 1 })
  onTestFinished(() => dispatcher.close())
  const send = async () => {
    const { statusCode, body } = await request(`${url}/evaluator/evaluate`, {
      method: 'POST',
      dispatcher,
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ context: { kind: 'user', key: `user-${client}` } }),
    })
    await body.dump()
    return statusCode
  }
  const statuses = [await send()]
  for (let round = 0; round < ROUNDS; round += 1) {
    const edgeS = (client + round) % 2 === 0 ? NGINX_S : SERVER_S
    const offsetMs = EDGE_MS * ((2 * client) / CLIENTS - 1)
    await pause(1000 * edgeS + offsetMs)
    statuses.push(await send())
  }
  return statuses
}

/** Returns the port of a proxy that passes bytes and the ends of connections on after a delay. */
async function delayed(port: number): Promise<number> {
  const pass = (from: Socket, to: Socket) => {
    const later = (action: () => void) => void setTimeout(action, DELAY_MS)
    from.on('data', (bytes) => later(() => to.write(bytes)))
    from.on('end', () => later(() => to.end()))
    from.on('error', () => undefined)
    from.on('close', () => later(() => to.destroy()))
  }
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    pass(near, far)
    pass(far, near)
  })
  const own = await freePort()
  server.listen(own, '127.0.0.1')
  onTestFinished(() => void server.close())
  return own
}
