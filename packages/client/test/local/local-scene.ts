import { type FlagDefinition, type FlagSetDefinition, isJsonObject } from '@ff/core'
import { flagSetRoot } from '@ff/core/flag-set-root'
import { bool, defineFlags, json, text } from '@ff/core/flag-types'
import { createFlagServer, type FlagServer } from '@ff/server'
import type { DefinitionChange } from '@ff/storage'
import { allInMemory } from '../../../server/test/capabilities.ts'
import { FakeClock, until } from '../../../server/test/fake-clock.ts'
import { addSdkKey, publish, type SeededEnvironment, seed } from '../../../server/test/seed.ts'
import type { ClientSocket, ClientSocketConstructor, Fetch } from '../../src/index.ts'
import { createLocalClient, type LocalClient, type LocalClientOptions } from '../../src/local.ts'

/** The flags of the tests. */
export const flags = defineFlags({
  banner: text('none'),
  title: text('none'),
  count: json<number>(-1),
  'new-checkout': bool(false),
})

/** The values of the flags of the tests. */
export interface Values {
  readonly banner: string
  readonly title: string
  readonly count: number
  readonly 'new-checkout': boolean
}

/** A context that most tests use. */
export const user = { kind: 'user', key: 'user-1' }

/** The network between clients and a server. A test can interrupt it. */
export class Network {
  server: FlagServer
  isDown = false
  /** All requests, as method and path. */
  readonly requests: string[] = []
  readonly sockets = new Set<InProcessSocket>()
  /** Replaces responses; returns `undefined` for the response of the server. */
  script: (path: string) => Promise<Response> | Response | undefined = () => undefined
  /** Replaces the text of each socket message. */
  socketScript: (message: string) => string = (message) => message

  constructor(server: FlagServer) {
    this.server = server
  }

  readonly fetch: Fetch = async (url, init) => {
    const path = url.replace('http://flags.test', '')
    this.requests.push(`${init.method} ${path}`)
    if (this.isDown) throw new Error('connection refused')
    const scripted = await this.script(path)
    const response = scripted ?? (await this.server.fetch(new Request(url, init as RequestInit)))
    if (this.isDown) throw new Error('connection reset')
    return response
  }

  get webSocket(): ClientSocketConstructor {
    const network = this
    return class extends InProcessSocket {
      constructor(_url: string) {
        super(network)
      }
    }
  }

  /** Interrupts all connections. */
  down(): void {
    this.isDown = true
    for (const socket of [...this.sockets]) socket.lose()
  }
}

/** A socket to a server in the same process. */
class InProcessSocket implements ClientSocket {
  onopen: ClientSocket['onopen'] = null
  onmessage: ClientSocket['onmessage'] = null
  onclose: ClientSocket['onclose'] = null
  onerror: ClientSocket['onerror'] = null
  readonly #network: Network
  #connection: ReturnType<FlagServer['acceptSocket']> | undefined

  constructor(network: Network) {
    this.#network = network
    network.requests.push('socket')
    network.sockets.add(this)
    void Promise.resolve().then(() => this.#open())
  }

  #open(): void {
    const { server, isDown } = this.#network
    if (!this.#network.sockets.has(this)) return
    if (isDown) {
      this.lose()
      return
    }
    this.#connection = server.acceptSocket({
      bufferedAmount: 0,
      send: ({ text }) => {
        const data = this.#network.socketScript(text)
        void Promise.resolve().then(() => this.onmessage?.({ data }))
      },
      whenDrained: () => {},
      close: (code) => void Promise.resolve().then(() => this.lose(code)),
    })
    this.onopen?.()
  }

  send(text: string): void {
    this.#connection?.receive(text)
  }

  close(): void {
    if (this.#network.sockets.delete(this)) this.#connection?.closed()
  }

  lose(code = 1006): void {
    if (!this.#network.sockets.has(this)) return
    this.close()
    this.onclose?.({ code })
  }
}

/** A server with its store, and clients of it. All have the same clock. */
export interface LocalScene {
  readonly clock: FakeClock
  readonly memory: ReturnType<typeof allInMemory>
  readonly server: FlagServer
  readonly live: SeededEnvironment
  readonly sdkKey: string
  readonly network: Network
  readonly errors: unknown[]
  /** The timers of all clients. */
  readonly timers: ReadonlySet<unknown>
  /** Publishes changes. Resolves with the version. */
  publish(...changes: readonly DefinitionChange[]): Promise<number>
  /** Returns the definition in the store. */
  stored(): Promise<FlagSetDefinition>
  create(options?: Partial<LocalClientOptions<Values>>): LocalClient<Values>
  /** Closes all clients and the server. */
  close(): Promise<void>
}

/** Creates a server, with a store in memory. */
export async function createLocalScene(now?: number): Promise<LocalScene> {
  const clock = new FakeClock(now)
  const memory = allInMemory()
  const { live } = await seed(memory.storage)
  const { sdkKey } = await addSdkKey(memory.storage, live, { kind: 'server', rateLimit: 1_000_000 })
  const server = createFlagServer({ ...memory, clock })
  await server.start()
  const network = new Network(server)
  const errors: unknown[] = []
  const timers = new Set<() => void>()
  const clientClock = {
    now: () => clock.now(),
    monotonicNow: () => clock.monotonicNow(),
    schedule(delayMs: number, task: () => void) {
      const cancel = clock.schedule(delayMs, () => {
        timers.delete(cancel)
        task()
      })
      timers.add(cancel)
      return () => {
        timers.delete(cancel)
        cancel()
      }
    },
  }
  const clients: LocalClient<Values>[] = []
  return {
    ...{ clock, memory, server, live, sdkKey, network, errors, timers },
    publish: (...changes) => publish(memory, live.environmentId, ...changes),
    stored: async () => {
      return (await memory.storage.loadFlagSet(live.environmentId)) as FlagSetDefinition
    },
    create(options = {}) {
      const client = createLocalClient<Values>({
        url: 'http://flags.test/',
        sdkKey,
        flags,
        clock: clientClock,
        random: () => 0.5,
        fetch: network.fetch,
        webSocket: network.webSocket,
        onError: (error) => errors.push(error),
        ...options,
      })
      clients.push(client)
      return client
    },
    async close() {
      network.isDown = true
      for (const client of clients) void client.close()
      await clock.advance(10_000)
      await server.close()
    },
  }
}

/** Returns the flag set that a server would send, with its root. */
export function whole(version: number, ...all: readonly FlagDefinition[]) {
  const definition: FlagSetDefinition = { version, flags: all, segments: [] }
  return { ...definition, root: flagSetRoot(definition).root }
}

/** Lets the clock run until a client is current. */
export async function untilCurrent(
  { clock }: Pick<LocalScene, 'clock'>,
  ...clients: readonly { readonly status: { readonly isCurrent: boolean } }[]
): Promise<void> {
  for (let round = 0; round < 200; round += 1) {
    // A socket follows the first request.
    await clock.advance(round === 0 ? 5 : 200)
    if (clients.every(({ status }) => status.isCurrent)) return
  }
  await until(() => clients.every(({ status }) => status.isCurrent))
}

/** Returns values as sorted text, because a key may be `__proto__`. */
export function sortedText(values: unknown): string {
  if (!isJsonObject(values)) return JSON.stringify(values)
  const entries = Object.entries(values)
  return JSON.stringify(entries.sort(([left], [right]) => (left < right ? -1 : 1)))
}
