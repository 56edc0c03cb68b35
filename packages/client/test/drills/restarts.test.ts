import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineFlags, text } from '@ff/core/flag-types'
import { expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { IS_FULL, report, sized } from '../../../server/test/drills/scale.ts'
import { createFlagClient } from '../../src/index.ts'
import { createLocalClient } from '../../src/local.ts'

const RESTARTS = sized({ full: 100, small: 3 })
/** The number of clients of each kind. */
const CLIENTS = { socket: 20, 'long-poll': 15, local: 15 } as const
/** The longest time until all clients have the last version, beyond the longest delay of a retry. */
const CONVERGED_WITHIN_MS = 60_000

const TOKEN = 'development-token'
const LOADER = new URL('../../../storage/test/typescript-loader.js', import.meta.url).href
const PACKAGES = IS_FULL ? [] : ['--conditions=@ff/source', `--import=${LOADER}`]
const PROGRAM = fileURLToPath(new URL('serving.js', import.meta.url))

const flags = defineFlags({ counter: text('fallback') })
const context = { kind: 'user', key: 'user-1' }

/** A client of the drill, whatever its kind. */
interface Observed {
  value(): string
  version(): number
  close(): void
  /** The highest number and version that the client has shown. */
  highest: { count: number; version: number }
}

it(
  'Clients follow a server that is killed again and again, and never show a fallback or an older value',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ff-restarts-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const start = () => startServer(join(folder, 'flags.db'), port)
    let server = await start()
    const { variationId } = await set(url, 0)
    const [clientKey, serverKey] = [await createKey(url, 'client'), await createKey(url, 'server')]
    const clients = connect(url, { client: clientKey, server: serverKey })
    onTestFinished(() => {
      for (const client of clients) client.close()
    })
    await converge(clients, 0)
    const watching = setInterval(() => clients.forEach(observe), 5)
    onTestFinished(() => clearInterval(watching))
    let slowestMs = 0
    for (let round = 1; round <= RESTARTS; round += 1) {
      await set(url, round, variationId)
      server.kill('SIGKILL')
      await once(server, 'exit')
      server = await start()
      const startedAt = performance.now()
      await converge(clients, round)
      slowestMs = Math.max(slowestMs, performance.now() - startedAt)
    }
    report(
      `${RESTARTS} kills: ${clients.length} clients had the last version at most ` +
        `${Math.round(slowestMs)} ms after each start`,
    )
  },
  RESTARTS * CONVERGED_WITHIN_MS,
)

/** Fails if a client shows a fallback, an older value or an older version. */
function observe(client: Observed): void {
  const shown = { count: countIn(client.value()), version: client.version() }
  const { highest } = client
  if (!(shown.count >= highest.count && shown.version >= highest.version)) {
    throw new Error(
      `A client shows ${client.value()} in version ${shown.version} after ${JSON.stringify(highest)}`,
    )
  }
  client.highest = shown
}

/** Returns the number in `value 7`; NaN for a fallback. */
function countIn(value: string): number {
  return Number(/^value (\d+)$/.exec(value)?.[1])
}

function connect(
  url: string,
  keys: { readonly client: string; readonly server: string },
): Observed[] {
  const clients: Observed[] = []
  const highest = { count: 0, version: 0 }
  const webSocket = WebSocket as never
  for (const transport of ['socket', 'long-poll'] as const) {
    for (let n = 0; n < CLIENTS[transport]; n += 1) {
      const sdkKey = keys.client
      const client = createFlagClient({ url, sdkKey, flags, context, transport, webSocket })
      const version = () => client.status.version
      const value = () => client.value('counter')
      clients.push({ value, version, close: () => client.close(), highest })
    }
  }
  for (let n = 0; n < CLIENTS.local; n += 1) {
    const client = createLocalClient({ url, sdkKey: keys.server, flags, webSocket })
    const value = () => client.value('counter', context)
    const version = () => client.status.version
    clients.push({ value, version, close: () => client.close(), highest })
  }
  return clients
}

/** Waits until all clients show a number. */
async function converge(clients: readonly Observed[], count: number): Promise<void> {
  const deadline = performance.now() + CONVERGED_WITHIN_MS
  const isBehind = (client: Observed) => countIn(client.value()) !== count
  while (clients.some(isBehind)) {
    if (performance.now() > deadline) {
      expect(
        clients.filter(isBehind).map((client) => client.value()),
        'late clients',
      ).toEqual([])
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

async function startServer(path: string, port: number): Promise<ChildProcess> {
  const command = [...PACKAGES, PROGRAM, path, String(port), TOKEN]
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const ended = once(child, 'exit').then(() => {
    throw new Error('The server has ended before it was listening')
  })
  await Promise.race([once(child.stdout, 'data'), ended])
  ended.catch(() => undefined)
  return child
}

/** Sends a management request, and returns the data of the response. */
async function manage<T>(url: string, method: string, body?: object): Promise<T> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
  const response = await fetch(url, init)
  const { data, message } = (await response.json()) as { data: T; message: string }
  if (!response.ok) throw new Error(message)
  return data
}

/** Sets the value of the flag to `value N`. */
async function set(url: string, count: number, known?: string): Promise<{ variationId: string }> {
  const variations = `${url}/projects/shop/flags/counter/variations`
  const variationId =
    known ?? (await manage<{ data: [{ id: string }] }>(variations, 'GET')).data[0].id
  await manage(`${variations}/${variationId}`, 'PUT', { value: `value ${count}` })
  return { variationId }
}

async function createKey(url: string, kind: 'client' | 'server'): Promise<string> {
  const body = { name: kind, kind }
  return (await manage<{ key: string }>(`${url}/projects/shop/envs/live/sdk-keys`, 'POST', body))
    .key
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}
