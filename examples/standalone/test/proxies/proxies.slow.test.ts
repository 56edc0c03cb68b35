import { once } from 'node:events'
import { createFlagClient, type Fetch } from '@ff/client'
import { expect, inject, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { IS_FULL } from '../../../../packages/server/test/drills/scale.ts'
import { RunningStandalone } from '../running-standalone.ts'
import { ProxyProcess } from './proxy-process.ts'

const ADMIN_TOKEN = 'an-administrators-own-token'
const FLAG = '/projects/shop/envs/live/flags/checkout-enabled'
const installed = inject('proxies')
/** The time for which an idle client is observed. */
const IDLE_MS = IS_FULL ? 60_000 : 5000

// biome-ignore lint/suspicious/noExplicitAny: the test checks the shape of responses
type Json = any

/** A server behind a proxy. */
interface Scene {
  /** The URL of the proxy. */
  readonly url: string
  readonly sdkKey: string
}

type Behind = Omit<Parameters<typeof ProxyProcess.start>[0], 'serverPort'> & {
  readonly env?: Readonly<Record<string, string>>
}

async function serveBehind({ env = {}, ...proxied }: Behind): Promise<Scene> {
  const server = new RunningStandalone({
    FF_ADMIN_TOKEN: ADMIN_TOKEN,
    FF_TRUST_PROXY: '1',
    FF_LOG_LEVEL: 'error',
    ...env,
  })
  onTestFinished(() => server.destroy())
  const serverPort = Number(new URL(await server.listening()).port)
  const proxy = await ProxyProcess.start({ ...proxied, serverPort })
  onTestFinished(() => proxy.stop())
  const sdkKey = /live\s+(ff_[0-9a-f]{64})/.exec(server.output)?.[1] ?? ''
  return { url: proxy.url, sdkKey }
}

function evaluate({ url, sdkKey }: Scene, headers: Readonly<Record<string, string>> = {}) {
  return fetch(`${url}/evaluator/evaluate`, {
    method: 'POST',
    headers: { 'x-api-key': sdkKey, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ context: { kind: 'user', key: 'user-1' } }),
  })
}

function evaluateOfrep({ url, sdkKey }: Scene, headers: Readonly<Record<string, string>> = {}) {
  return fetch(`${url}/ofrep/v1/evaluate/flags`, {
    method: 'POST',
    headers: { 'x-api-key': sdkKey, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ context: { targetingKey: 'user-1' } }),
  })
}

/** Sends a request to the management API. */
function manage(
  { url }: Scene,
  { method = 'GET', body, ifMatch }: { method?: string; body?: object; ifMatch?: string } = {},
) {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' }
  return fetch(url + FLAG, {
    method,
    headers: { ...headers, ...(ifMatch !== undefined && { 'if-match': ifMatch }) },
    ...(body && { body: JSON.stringify(body) }),
  })
}

async function openSocket(url: string, sdkKey: string): Promise<string> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/sdk`)
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'init', sdkKey, context: {} }))
  const [message] = await once(socket, 'message')
  socket.close()
  return JSON.parse(String(message)).type
}

it.runIf(installed.includes('apache2'))(
  'Behind Apache with compression, entity tags are recognized, an idle client polls rarely, and a change arrives',
  async () => {
    const scene = await serveBehind({ name: 'apache2' })
    for (const send of [evaluate, evaluateOfrep]) {
      const first = await send(scene)
      const etag = first.headers.get('etag') ?? ''
      expect([first.headers.get('content-encoding'), etag]).toEqual([
        'gzip',
        expect.stringMatching(/-gzip"$/),
      ])
      expect((await send(scene, { 'if-none-match': etag })).status).toBe(304)
    }
    const flag = await manage(scene)
    const revision = flag.headers.get('etag') ?? ''
    expect(revision).toMatch(/-gzip"$/)
    expect(
      (await manage(scene, { method: 'PUT', body: { is_active: false }, ifMatch: revision }))
        .status,
    ).toBe(200)
    expect(await openSocket(scene.url, scene.sdkKey)).toBe('flags')

    let requests = 0
    const counted: Fetch = (url, init) => {
      requests += 1
      return fetch(url, init as RequestInit)
    }
    const client = createFlagClient<{ 'checkout-enabled': boolean }>({
      ...scene,
      fetch: counted,
      transport: 'long-poll',
    })
    onTestFinished(() => client.close())
    expect(await client.ready()).toBe('live')
    requests = 0
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
    expect(requests).toBeLessThanOrEqual(2)
    process.stdout.write(`An idle client behind Apache: ${requests} requests in ${IDLE_MS} ms\n`)

    const changed = new Promise((resolve) => client.subscribe('checkout-enabled', resolve))
    const sentAt = performance.now()
    expect((await manage(scene, { method: 'PUT', body: { is_active: true } })).status).toBe(200)
    await changed
    const delayMs = Math.round(performance.now() - sentAt)
    process.stdout.write(`A change behind Apache: ${delayMs} ms\n`)
  },
)

it.runIf(installed.includes('nginx'))(
  'Behind nginx, a client receives changes over a socket, and log-in accepts the origin with the port of the proxy',
  async () => {
    const scene = await serveBehind({
      name: 'nginx',
      env: { FF_ADMIN_EMAIL: 'root@acme.test', FF_ADMIN_PASSWORD: 'a password for the root' },
    })
    expect((await evaluate(scene)).status).toBe(200)
    expect(await openSocket(scene.url, scene.sdkKey)).toBe('flags')
    const logIn = (origin: string) =>
      fetch(`${scene.url}/auth/login`, {
        method: 'POST',
        headers: { origin, 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'root@acme.test', password: 'a password for the root' }),
      })
    expect((await logIn(scene.url)).status).toBe(200)
    expect((await logIn('http://127.0.0.1')).status).toBe(403)
  },
)

it.runIf(installed.includes('nginx'))(
  'Behind nginx with compression, which makes entity tags weak, the server responds with 304',
  async () => {
    const compression = 'gzip on; gzip_proxied any; gzip_types application/json;'
    const scene = await serveBehind({
      name: 'nginx',
      changes: [['proxy_buffering off;', compression]],
    })
    for (const send of [evaluate, evaluateOfrep]) {
      const first = await send(scene)
      const etag = first.headers.get('etag') ?? ''
      expect([first.headers.get('content-encoding'), etag.slice(0, 3)]).toEqual(['gzip', 'W/"'])
      expect((await send(scene, { 'if-none-match': etag })).status).toBe(304)
    }
  },
)

it.runIf(installed.includes('nginx')).each([
  ['keeps', 'proxy_pass http://ff;'],
  ['removes', 'proxy_pass http://ff/;'],
])('With FF_BASE_PATH, nginx %s the prefix of the path', async (_, pass) => {
  const scene = await serveBehind({
    name: 'nginx',
    changes: [
      ['location /', 'location /ff/'],
      ['proxy_pass http://ff;', pass],
    ],
    env: { FF_BASE_PATH: '/ff' },
  })
  const below = { ...scene, url: `${scene.url}/ff` }
  expect((await evaluate(below)).status).toBe(200)
  expect(await openSocket(below.url, below.sdkKey)).toBe('flags')
  const { eventStreams }: Json = await (await evaluateOfrep(below)).json()
  const stream = await fetch(scene.url + eventStreams[0].endpoint.requestUri)
  expect(stream.status).toBe(200)
  await stream.body?.cancel()
  const start = await fetch(`${below.url}/`, { redirect: 'manual' })
  expect([start.status, start.headers.get('location')]).toEqual([302, '/ff/dashboard'])
  const docs = await fetch(`${below.url}/docs`)
  const script = /src="([^"]+\.js)"/.exec(await docs.text())?.[1] ?? ''
  expect((await fetch(new URL(script, docs.url))).status).toBe(200)
  expect((await fetch(`${scene.url}/health`)).status).toBe(404)
})
