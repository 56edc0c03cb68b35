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
  /** Tells all clients of something new. */
  change(round: number): Promise<void>
  /** How many requests are parked. */
  parked(): Promise<number>
}

const FLAGS = 1000

/** What the floors send: as long as what the flag server sends. */
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

/** Serves, until the process that started this one has gone. */
export async function serve(kind: string): Promise<void> {
  const serving = await (KINDS.get(kind) ?? serveFlags)()
  const { server } = serving
  // A slow machine leaves connections idle for long between two rounds.
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4096, resolve))
  const { port } = server.address() as AddressInfo
  const waits = new Waits()
  let round = 0
  let cpu = process.cpuUsage()
  answerAll({
    port: async () => ({ port }),
    memory: memoryUsed,
    parked: async () => ({ parked: await serving.parked() }),
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

/** How long something that is asked for again and again has had to wait for its turn. */
class Waits {
  #longest = 0
  #timer: NodeJS.Timeout | undefined

  begin(): void {
    let last = instant()
    this.#longest = 0
    this.#timer = setInterval(() => {
      const now = instant()
      this.#longest = Math.max(this.#longest, now - last)
      last = now
    }, 1)
  }

  /** The longest wait, in milliseconds. */
  end(): number {
    clearInterval(this.#timer)
    return this.#longest
  }
}

/** Once what was counted and observed while the clients came, which is told each second, is written. */
async function memoryUsed(): Promise<Answer> {
  await pause(1500)
  for (let turn = 0; turn < 5; turn += 1) {
    globalThis.gc?.()
    await pause(100)
  }
  const { rss, heapUsed, external } = process.memoryUsage()
  return { rss, heap: heapUsed + external }
}

/** The flag server, sockets and polls; every round changes what everybody has of one flag. */
async function serveFlags(): Promise<Serving> {
  const { storage, changeFeed, ...others } = memory()
  if (storage === undefined || changeFeed === undefined) throw new Error('no store')
  // What a database keeps is no memory of this process: it is counted and observed, but not kept.
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
    // How fast crowds are let in is not what is measured.
    maxNewSocketsPerSecond: 1_000_000,
    maxPendingSocketsPerAddress: 4096,
  })
  await flags.start()
  // What is there once, whoever asks, is no client's.
  await flags.evaluate(live, {})
  const server = createServer(toNodeHandler(flags))
  attachWebSocket(server, flags)
  return {
    server,
    change: async (round) => {
      const change = flagChange(textOf(first, 10 + (round % 90)))
      await publish({ storage, changeFeed }, live.environmentId, change)
    },
    parked: async () => {
      const metrics = await (await flags.fetch(new Request('http://flags.test/metrics'))).text()
      return Number(/^ff_live_clients\{transport="poll"\} (\d+)$/m.exec(metrics)?.[1])
    },
  }
}

/** The same flag, serving texts, which are others in each round. */
function textOf(flag: FlagDefinition, round: number): FlagDefinition {
  const variations = flag.variations.map((each) => ({ ...each, value: `${each.key} ${round}` }))
  return { ...flag, type: 'string', variations }
}

/** Floor: nothing but `ws`, which sends everybody the same bytes. */
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
    parked: async () => 0,
  }
}

/** Floor: nothing but `node:http`, which answers everybody the same. */
async function serveRequests(): Promise<Serving> {
  const parked: ServerResponse[] = []
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => parked.push(response))
  })
  const headers = { 'Content-Type': 'application/json', 'Content-Length': EVERYTHING.length }
  return {
    server,
    change: async () => {
      for (const response of parked.splice(0)) response.writeHead(200, headers).end(EVERYTHING)
    },
    parked: async () => parked.length,
  }
}
