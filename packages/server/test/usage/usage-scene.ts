import type { Records, Storage } from '@ff/storage'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import type { SocketConnection } from '../../src/live/socket-connection.ts'
import { evaluate } from '../call.ts'
import { allInMemory, breakable } from '../capabilities.ts'
import { FakeClock, settle, until } from '../fake-clock.ts'
import { flagChange, publish, type SeededEnvironment, seed, textFlag } from '../seed.ts'
import { TestSocket } from '../test-socket.ts'

/** The context of a user with the plan `pro`. */
export const pro = { kind: 'user', key: 'user-1', plan: 'pro' }
/** The context of a user with the plan `free`. */
export const free = { kind: 'user', key: 'user-2', plan: 'free' }

const proRule = { conditions: [{ attribute: 'plan', operator: 'eq', value: 'pro' }] }

/** The first minute of every scene. */
export const MINUTE = '2030-01-01T00:00:00.000Z'
/** A period that contains all usage of the tests. */
export const FOREVER = { from: '2000-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z' }

/** The id of a flag that serves `other` for the plan `pro`, and `hello` otherwise. */
export const BANNER = 'flag-banner'
/** The id of a flag that serves `shop` to all contexts. */
export const TITLE = 'flag-title'

/** A server with its store and clock. */
export interface Scene {
  readonly clock: FakeClock
  readonly memory: ReturnType<typeof allInMemory>
  readonly store: ReturnType<typeof breakable>
  readonly flags: FlagServer
  readonly live: SeededEnvironment
  readonly orgId: string
}

/** Creates a server with a store that can fail and a fake clock. */
export async function openScene(): Promise<Scene> {
  const clock = new FakeClock()
  const memory = allInMemory()
  const { live, orgId } = await seed(memory.storage)
  const banner = flagChange(textFlag('banner', 'hello', [proRule]))
  await publish(memory, live.environmentId, banner, flagChange(textFlag('title', 'shop')))
  const store = breakable(memory.storage)
  const flags = createFlagServer({
    ...memory,
    storage: store.storage,
    clock,
    metricsArePublic: true,
  })
  await flags.start()
  // The refused request is not counted, but it caches the key, so that `settle` waits long enough
  // afterwards.
  await evaluate(flags, live.sdkKey, null)
  return { clock, memory, store, flags, live, orgId }
}

/** Returns the counts of a flag by `source reason variation`. */
export async function countsOf(
  { memory, live }: Pick<Scene, 'memory' | 'live'>,
  flagId: string,
  when = FOREVER,
): Promise<Record<string, number>> {
  const query = { environmentId: live.environmentId, flagId, ...when }
  const totals = await memory.storage.loadEvaluationCounts(query)
  const entries = totals.map(({ source, reason, variationId, count }) => {
    return [`${source} ${reason} ${variationId}`, count] as const
  })
  return Object.fromEntries(entries)
}

/** Returns the usage of the organization: that of its record, and the pending requests. */
export async function apiUsage({
  memory,
  orgId,
}: Pick<Scene, 'memory' | 'orgId'>): Promise<number | undefined> {
  const pending = (await memory.storage.loadApiCalls([orgId])).get(orgId) ?? 0
  const organization = await memory.storage.find('organization', orgId)
  return organization && organization.apiUsage + pending
}

/** Returns the dropped and pending usage according to the server's metrics. */
export async function lossesOf({ flags }: Pick<Scene, 'flags'>): Promise<Record<string, number>> {
  const text = await (await flags.fetch(new Request('http://flags.test/metrics'))).text()
  const lines = text.matchAll(/^ff_usage_(?:dropped_total\{what="(\w+)"\}|(pending)) (\d+)$/gm)
  return Object.fromEntries(
    [...lines].map(([, kind, other, count]) => [kind ?? other, Number(count)]),
  )
}

/** Returns the same store for another server. Closing that server does not close the store. */
export function shared(storage: Storage): Storage {
  return new Proxy(storage, {
    get(target, name) {
      if (name === 'close') return async () => undefined
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Returns the stored context samples, sorted by key. */
export async function contextsIn(storage: Storage): Promise<readonly Records['observedContext'][]> {
  const sort = { field: 'key', direction: 'asc' } as const
  return (await storage.list('observedContext', { sort })).data
}

/** A socket client. */
export interface Client {
  readonly socket: TestSocket
  readonly connection: SocketConnection
  say(message: unknown): Promise<void>
}

/** Opens a socket client and waits for the reply to its init. */
export async function openClient({ flags, live }: Scene, context: unknown = pro): Promise<Client> {
  const socket = new TestSocket()
  const connection = flags.acceptSocket(socket)
  const say = async (message: unknown) => {
    connection.receive(JSON.stringify(message))
    await settle()
  }
  await say({ type: 'init', sdkKey: live.sdkKey, context })
  await until(() => socket.messages.length > 0)
  return { socket, connection, say }
}
