import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FlagDefinition } from '@ff/core'
import { createFlagServer } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'
import { memory } from '@ff/storage'
import { WebSocketServer } from 'ws'
import { manyFlags } from '../../../core/bench/workload.ts'
import { hashSecret } from '../../src/access/secrets.ts'
import { addSdkKey, flagChange, OCCASION, publish, seed } from '../../test/seed.ts'
import { type Answer, answerAll, instant, pause, SDK_KEY } from './messages.ts'

interface Serving {
  readonly server: Server
  /** Sends a change to all clients. */
  change(round: number): Promise<void>
  /** Returns the number of pending polls. */
  pending(): Promise<number>
}

const FLAGS = 1000

/** The messages of the minimal servers. They have the same length as those of the flag server. */
const UPDATE = Buffer.from(
  '{"type":"flags","flags":{"feature-0":"on 10"},"version":10,"full":false}',
)
const EVERYTHING = Buffer.from(
  JSON.stringify(
    Object.fromEntries(
      Array.from({ length: FLAGS }, (_, flag) => [`feature-${flag}`, flag % 2 === 0]),
    ),
  ),
)

const KINDS = new Map([
  ['flags', serveFlags],
  ['sockets', serveSockets],
  ['requests', serveRequests],
])

/** Runs a server until the parent process disconnects. */
export async function serve(kind: string): Promise<void> {
  const serving = await (KINDS.get(kind) ?? serveFlags)()
  const { server } = serving
  // On a slow machine, connections are idle for a long time between two rounds.
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4096, resolve))
  const { port } = server.address() as AddressInfo
  const waits = new Waits()
  let round = 0
  let cpu = process.cpuUsage()
  answerAll({
    port: async () => ({ port }),
    memory: memoryUsed,
    pending: async () => ({ pending: await serving.pending() }),
    change: async () => {
      round += 1
      waits.begin()
      cpu = process.cpuUsage()
      const startedAt = instant()
      await serving.change(round)
      return { startedAt }
    },
    cost: async () => {
      const { user, system } = process.cpuUsage(cpu)
      return { cpuMs: (user + system) / 1000, blockedMs: waits.end() }
    },
  })
}

/** Measures how long a repeating timer is delayed. */
class Waits {
  #longest = 0
  #timer: NodeJS.Timeout | undefined

  /** Starts measuring. */
  begin(): void {
    let last = instant()
    this.#longest = 0
    this.#timer = setInterval(() => {
      const now = instant()
      this.#longest = Math.max(this.#longest, now - last)
      last = now
    }, 1)
  }

  /** Stops measuring. Returns the longest delay in milliseconds. */
  end(): number {
    clearInterval(this.#timer)
    return this.#longest
  }
}

/**
 * Returns the memory in use. Waits until the usage of the new clients was written, which happens
 * every second.
 */
async function memoryUsed(): Promise<Answer> {
  await pause(1500)
  for (let turn = 0; turn < 5; turn += 1) {
    globalThis.gc?.()
    await pause(100)
  }
  const { rss, heapUsed, external } = process.memoryUsage()
  return { rss, heap: heapUsed + external }
}

/** Runs the flag server. Every round changes the value of one flag for all contexts. */
async function serveFlags(): Promise<Serving> {
  const { storage, changeFeed, ...others } = memory()
  if (storage === undefined || changeFeed === undefined) throw new Error('no store')
  // With a database, stored usage is not in the memory of this process. It is therefore recorded,
  // but not stored.
  storage.addEvaluationCounts = async () => undefined
  storage.recordContextSamples = async () => undefined
  const { live } = await seed(storage)
  await addSdkKey(storage, live, { rateLimit: 1_000_000_000, hash: await hashSecret(SDK_KEY) })
  const { flags: definitions, segments } = manyFlags(FLAGS)
  const [first, ...unchanged] = definitions
  if (first === undefined) throw new Error('no flags')
  const changes = [
    ...segments.map((definition) => ({ kind: 'segment', id: definition.id, definition }) as const),
    ...[textOf(first, 10), ...unchanged].map(flagChange),
  ]
  await storage.publish(live.environmentId, changes, OCCASION)
  const flags = createFlagServer({
    ...{ ...others, storage, changeFeed, metricsArePublic: true },
    // The benchmark does not measure the connection throttle.
    maxNewSocketsPerSecond: 1_000_000,
    maxPendingSocketsPerAddress: 4096,
  })
  await flags.start()
  // The first evaluation loads the environment, so that its memory is not attributed to clients.
  await flags.allOrThrow(live, {})
  const server = createServer(toNodeHandler(flags))
  attachWebSocket(server, flags)
  return {
    server,
    change: async (round) => {
      const change = flagChange(textOf(first, 10 + (round % 90)))
      await publish({ storage, changeFeed }, live.environmentId, change)
    },
    pending: async () => {
      const metrics = await (await flags.fetch(new Request('http://flags.test/metrics'))).text()
      return Number(/^ff_live_clients\{transport="poll"\} (\d+)$/m.exec(metrics)?.[1])
    },
  }
}

/** Returns the flag with text values that differ in each round. */
function textOf(flag: FlagDefinition, round: number): FlagDefinition {
  const variations = flag.variations.map((each) => ({ ...each, value: `${each.key} ${round}` }))
  return { ...flag, type: 'string', variations }
}

/** Runs a minimal server: only `ws`, which sends the same bytes to all clients. */
async function serveSockets(): Promise<Serving> {
  const server = createServer()
  const sockets = new WebSocketServer({ server, perMessageDeflate: false })
  sockets.on('connection', (socket) => {
    socket.on('message', () => socket.send(EVERYTHING, { binary: false }))
    socket.on('error', () => undefined)
  })
  return {
    server,
    change: async () => {
      for (const socket of sockets.clients) socket.send(UPDATE, { binary: false })
    },
    pending: async () => 0,
  }
}

/** Runs a minimal server: only `node:http`, which sends the same response to all clients. */
async function serveRequests(): Promise<Serving> {
  const pending: ServerResponse[] = []
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => pending.push(response))
  })
  const headers = { 'Content-Type': 'application/json', 'Content-Length': EVERYTHING.length }
  return {
    server,
    change: async () => {
      for (const response of pending.splice(0)) response.writeHead(200, headers).end(EVERYTHING)
    },
    pending: async () => pending.length,
  }
}
