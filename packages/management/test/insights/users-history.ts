import { countUniqueUsers } from '@ff/server/plane'
import { expect } from 'vitest'
import type { FlagServer } from '../../../server/src/flag-server.ts'
import { call, evaluate } from '../../../server/test/call.ts'
import { settle, until } from '../../../server/test/fake-clock.ts'
import { TestSocket } from '../../../server/test/test-socket.ts'
import type { MetricsShop } from '../world/metrics-shop.ts'

const SYSTEM = { id: 'test', email: '', name: 'Test', role: 'platform', orgId: null } as const
const EVER = { from: '2000-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z' }

/** The keys of the flags of a history. */
export const FLAG_KEYS = ['a', 'b', 'c'] as const

type FlagKey = (typeof FLAG_KEYS)[number]
type KeyKind = 'client' | 'server'

/** The users with the numbers `from` to `from + count - 1`. */
interface Users {
  readonly from: number
  readonly count: number
}

/** One step of a history. Steps that are impossible, such as archiving a missing flag, do nothing. */
export type HistoryStep =
  | { readonly does: 'create'; readonly flag: FlagKey; readonly isVisible: boolean }
  | { readonly does: 'delete' | 'serve another value'; readonly flag: FlagKey }
  | { readonly does: 'archive' | 'show'; readonly flag: FlagKey; readonly is: boolean }
  | {
      readonly does: 'evaluate' | 'open a socket' | 'evaluate again'
      readonly users: Users
      readonly kind: KeyKind
      readonly onOther: boolean
    }
  | { readonly does: 'evaluate one'; readonly flag: FlagKey; readonly users: Users }
  | { readonly does: 'evaluate in process'; readonly users: Users }
  | {
      readonly does: 'report'
      readonly flag: FlagKey
      readonly users: Users
      readonly kind: KeyKind
    }
  | { readonly does: 'wait'; readonly minutes: number }

interface KnownFlag {
  readonly id: string
  isArchived: boolean
  isVisible: boolean
  isLight: boolean
}

interface OpenSocket {
  readonly socket: TestSocket
  readonly user: string
  close(): void
}

const keysOf = ({ from, count }: Users) =>
  Array.from({ length: count }, (_, index) => `user-${from + index}`)

/**
 * A project with flags that change while they are evaluated on two instances. Counts the users of
 * each flag exactly, from the flags in the responses.
 */
export class UsersHistory {
  readonly #shop: MetricsShop
  /** The instances that evaluate. The second one can be a version behind. */
  readonly #servers: readonly [FlagServer, FlagServer]
  readonly #place: { readonly projectId: string; readonly environmentId: string }
  readonly #keys: Readonly<Record<KeyKind, string>>
  readonly #flags = new Map<string, KnownFlag>()
  /** The exact users by flag id, for all flags that ever existed. */
  readonly #users = new Map<string, Set<string>>()
  /** The ids of the flags by their keys, in each version. */
  readonly #versions = new Map<number, ReadonlyMap<string, string>>()
  readonly #sockets: OpenSocket[] = []

  private constructor(
    shop: MetricsShop,
    servers: readonly [FlagServer, FlagServer],
    place: { projectId: string; environmentId: string; keys: Readonly<Record<KeyKind, string>> },
  ) {
    this.#shop = shop
    this.#servers = servers
    this.#place = place
    this.#keys = place.keys
  }

  /** Creates a project without flags. `check` closes the servers. */
  static async open(
    shop: MetricsShop,
    servers: readonly [FlagServer, FlagServer],
  ): Promise<UsersHistory> {
    const management = shop.flags.as(SYSTEM)
    const { orgId } = shop.mine
    const key = `p${crypto.randomUUID().slice(0, 18)}`
    const made = await management.createProject({ params: { orgId }, body: { key } })
    const place = { projectId: made.id, environmentId: made.environments[0]?.id ?? '' }
    const keyOf = async (kind: KeyKind) =>
      (await management.createSdkKey({ params: place, body: { name: kind, kind } })).key
    const keys = { client: await keyOf('client'), server: await keyOf('server') }
    const history = new UsersHistory(shop, servers, { ...place, keys })
    await history.#noteVersion()
    return history
  }

  /** Performs one step. */
  async perform(step: HistoryStep): Promise<void> {
    if (step.does === 'wait') await this.#shop.clock.advance(step.minutes * 60_000)
    else if ('users' in step) await this.#evaluate(step)
    else await this.#change(step)
    await settle()
    this.#readSockets()
  }

  /** Compares the unique users of all flags with the exact users. Returns the sum of the latter. */
  async check(): Promise<number> {
    for (const { close } of this.#sockets) close()
    for (const server of this.#servers) await server.close()
    const { environmentId } = this.#place
    const living = new Set([...this.#flags.values()].map(({ id }) => id))
    for (const [flagId, { size }] of this.#users) {
      const query = { environmentId, flagId, ...EVER }
      expectClose(await countUniqueUsers(this.#shop.storage, query), size)
      if (!living.has(flagId)) continue
      const path = `/flags/${flagId}/metrics?environmentId=${environmentId}`
      const metrics = (await this.#shop.read(path)) as Record<string, { readonly value: number }>
      const [users = 0, evaluations = 0] = [
        metrics['uniqueUsers']?.value,
        metrics['totalEvaluations']?.value,
      ]
      expectClose(users, size)
      expect(users).toBeLessThanOrEqual(evaluations)
    }
    return [...this.#users.values()].reduce((sum, { size }) => sum + size, 0)
  }

  async #change(
    step: Extract<HistoryStep, { flag: FlagKey }> & { readonly users?: never },
  ): Promise<void> {
    const management = this.#shop.flags.as(SYSTEM)
    const { projectId, environmentId } = this.#place
    const known = this.#flags.get(step.flag)
    if (step.does === 'create') {
      if (known !== undefined) return
      const variations = ['dark', 'light'].map((key) => ({ key, name: key, value: key }))
      const body = { key: step.flag, type: 'string' as const, variations }
      const made = await management.createFlag({
        params: { projectId },
        body: { ...body, clientVisible: step.isVisible },
      })
      const state = { isArchived: false, isVisible: step.isVisible, isLight: false }
      this.#flags.set(step.flag, { id: made.id, ...state })
      this.#users.set(made.id, new Set())
    } else if (known !== undefined) {
      const params = { projectId, flagId: known.id }
      if (step.does === 'delete') {
        await management.deleteFlag({ params })
        this.#flags.delete(step.flag)
      } else if (step.does === 'archive') {
        known.isArchived = step.is
        await management.updateFlag({ params, body: { archived: step.is } })
      } else if (known.isArchived) return
      else if (step.does === 'show') {
        known.isVisible = step.is
        await management.updateFlag({ params, body: { clientVisible: step.is } })
      } else {
        known.isLight = !known.isLight
        const body = { isActive: true, defaultVariationId: known.isLight ? 'light' : 'dark' }
        await management.updateFlagState({ params: { ...params, environmentId }, body })
      }
    }
    await this.#noteVersion()
  }

  async #evaluate(step: Extract<HistoryStep, { users: Users }>): Promise<void> {
    for (const user of keysOf(step.users)) {
      const context = { kind: 'user', key: user }
      if (step.does === 'report') await this.#report(step, user)
      else if (step.does === 'evaluate in process') {
        const values = await this.#servers[0].allOrThrow(this.#place, context)
        this.#note(user, Object.keys(values))
      } else if (step.does === 'evaluate one') {
        const { errorCode } = await this.#servers[0].detail(this.#place, step.flag, context, '')
        if (errorCode !== 'FLAG_NOT_FOUND') this.#note(user, [step.flag])
      } else if (step.does === 'open a socket') await this.#openSocket(step, user)
      else await this.#request(step, user)
    }
  }

  /** Sends an evaluation over HTTP, and repeats it for `evaluate again` with the received tag. */
  async #request(
    { does, kind, onOther }: Extract<HistoryStep, { onOther: boolean }>,
    user: string,
  ): Promise<void> {
    const server = this.#servers[onOther ? 1 : 0]
    const ask = async (headers = {}) => {
      const context = { kind: 'user', key: user }
      const answer = await evaluate(server, this.#keys[kind], context, headers)
      if (answer.status !== 304) {
        const version = Number(answer.headers.get('x-ff-version'))
        this.#note(user, Object.keys(answer.body as object), version)
      }
      return answer.headers.get('etag') ?? ''
    }
    const tag = await ask()
    if (does === 'evaluate again') await ask({ 'if-none-match': tag })
  }

  async #openSocket(
    { kind, onOther }: Extract<HistoryStep, { onOther: boolean }>,
    user: string,
  ): Promise<void> {
    const socket = new TestSocket()
    const server = this.#servers[onOther ? 1 : 0]
    const connection = server.acceptSocket(socket)
    const context = { kind: 'user', key: user }
    connection.receive(JSON.stringify({ type: 'init', sdkKey: this.#keys[kind], context }))
    await until(() => socket.messages.length > 0)
    this.#sockets.push({ socket, user, close: () => connection.closed() })
  }

  async #report(
    { flag, kind }: Extract<HistoryStep, { does: 'report' }>,
    user: string,
  ): Promise<void> {
    const from = new Date(this.#shop.clock.now()).toISOString()
    const outcome = { flag_key: flag, variation_key: 'dark', reason: 'STATIC', count: 2, from }
    const body = { events: [{ ...outcome, context_keys: [user] }] }
    const key = this.#keys[kind]
    const answer = await call(this.#servers[0], '/evaluator/events', { key, body })
    if ((answer.body as { accepted: number }).accepted > 0) this.#note(user, [flag])
  }

  #readSockets(): void {
    for (const { socket, user } of this.#sockets) {
      for (const message of socket.take()) {
        if (message.type !== 'flags') continue
        this.#note(user, Object.keys(message.flags), message.version)
      }
    }
  }

  #note(user: string, flagKeys: readonly string[], version?: number): void {
    const newest = Math.max(...this.#versions.keys())
    const ids = this.#versions.get(version ?? newest)
    for (const key of flagKeys) {
      const users = this.#users.get(ids?.get(key) ?? '')
      if (users === undefined) throw new Error(`Version ${version} has no flag ${key}.`)
      users.add(user)
    }
  }

  async #noteVersion(): Promise<void> {
    const definition = await this.#shop.storage.loadFlagSet(this.#place.environmentId)
    const { version = 0, flags = [] } = definition ?? {}
    this.#versions.set(version, new Map(flags.map(({ key, id }) => [key, id])))
    for (;;) {
      // A context without a key adds no user.
      const answer = await evaluate(this.#servers[0], this.#keys.server, { kind: 'user' })
      if (answer.headers.get('x-ff-version') === String(version)) return
      await settle()
    }
  }
}

/** Compares with the error of `docs/metrics.md`, and that of one user for few users. */
function expectClose(value: number, exact: number): void {
  if (exact === 0) expect(value).toBe(0)
  else expect(Math.abs(value - exact)).toBeLessThanOrEqual(Math.max(1, 0.03 * exact))
}
