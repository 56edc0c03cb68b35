import {
  compileFlagSet,
  type EvaluationContext,
  evaluateAll,
  type FlagValues,
  valuesOf,
} from '@ff/core'
import type { AuditEvent, Environment, Project, Role } from '@ff/protocol/management'
import { type FlagSetChange, memory, type Storage } from '@ff/storage'
import { type Actor, tokenAuthenticator } from '../../src/access/actors.ts'
import type { Exchange, Reply } from '../../src/http/exchange.ts'
import { bodyTooLarge, parseJsonBody } from '../../src/http/json-body.ts'
import { createManagementApp } from '../../src/http/management.ts'
import { silentLogger } from '../../src/logger.ts'
import { createAccessToken } from '../../src/management/access-tokens.ts'
import type { Management } from '../../src/management/management.ts'
import { createOrganization } from '../../src/management/organizations.ts'
import { createProject } from '../../src/management/projects.ts'
import { FakeClock } from '../fake-clock.ts'

/** Any JSON that was answered; tests look into it freely. */
// biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what the tests are about
export type Json = any

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly message: string
  readonly data: Json
}

export interface Call {
  readonly token?: string | undefined
  /** Sent as JSON; text and bytes are sent as they are. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** An organization with a project, its two environments and a token for every role. */
export interface Tenant {
  readonly orgId: string
  readonly project: Project
  readonly live: Environment
  readonly staging: Environment
  readonly tokens: Readonly<Record<Role, string>>
}

/** Who sets the scene. */
const SYSTEM_ACTOR: Actor = {
  id: 'system',
  email: '',
  name: 'System',
  role: 'platform',
  orgId: null,
}

/** A management app over a real store, with tenants in it. */
export class World {
  readonly storage: Storage
  readonly clock = new FakeClock()
  readonly hints: FlagSetChange[] = []
  readonly management: Management
  readonly #handle: (exchange: Exchange) => Promise<Reply>

  private constructor(storage: Storage) {
    const { clock } = this
    const { changeFeed } = memory()
    void changeFeed.subscribe((change) => {
      if (change.type !== 'resync') this.hints.push(change)
    })
    const services = { storage, changeFeed, clock, logger: silentLogger }
    const authenticateBearer = tokenAuthenticator(storage, clock)
    this.storage = storage
    this.management = { ...services, actor: SYSTEM_ACTOR }
    this.#handle = createManagementApp({ ...services, authenticateBearer })
  }

  static async create(storage: Storage = memory().storage): Promise<World> {
    await storage.migrate()
    return new World(storage)
  }

  async addTenant(name: string): Promise<Tenant> {
    const { management } = this
    const { id: orgId } = await createOrganization(management, { body: { name } })
    const params = { orgId }
    const created = await createProject(management, { params, body: { key: 'shop' } })
    const [live, staging] = created.environments
    if (live === undefined || staging === undefined) throw new Error('no environments')
    const tokenOf = async (role: Role) => {
      const owner = { orgId: role === 'platform' ? null : orgId }
      const body = { name: `${name} ${role}`, role }
      return (await createAccessToken(management, { params: owner, body })).token
    }
    const tokens = {
      platform: await tokenOf('platform'),
      owner: await tokenOf('owner'),
      admin: await tokenOf('admin'),
      editor: await tokenOf('editor'),
      viewer: await tokenOf('viewer'),
    }
    return { orgId, project: created, live, staging, tokens }
  }

  async call(
    method: string,
    address: string,
    { token, body, headers }: Call = {},
  ): Promise<Answer> {
    const [path = '', query = ''] = address.split('?')
    const bytes = bytesOf(body)
    const sent = new Map(Object.entries(headers ?? {}))
    if (token !== undefined) sent.set('authorization', `Bearer ${token}`)
    if (bytes !== undefined && !sent.has('content-type'))
      sent.set('content-type', 'application/json')
    const reply = await this.#handle({
      method,
      path,
      query,
      header: (name) => sent.get(name),
      json: async (maxBytes) => {
        if ((bytes?.byteLength ?? 0) > maxBytes) throw bodyTooLarge(maxBytes)
        return parseJsonBody(bytes ?? new Uint8Array())
      },
      hasBody: bytes !== undefined,
      signal: new AbortController().signal,
    })
    const { status, headers: answered } = reply
    const text = await textOf(reply.body)
    if (answered['Content-Type']?.startsWith('application/x-ndjson')) {
      const lines = text.split('\n').slice(0, -1)
      return {
        status,
        headers: answered,
        text,
        message: '',
        data: lines.map((line) => JSON.parse(line)),
      }
    }
    const { statusCode, message, data } = JSON.parse(text)
    if (statusCode !== reply.status)
      throw new Error(`envelope ${statusCode}, status ${reply.status}`)
    return { status: reply.status, headers: reply.headers, text, message, data }
  }

  /** What an application would be served now. */
  async evaluate(environment: Environment, context: EvaluationContext = {}): Promise<FlagValues> {
    const definition = await this.storage.loadFlagSet(environment.id)
    if (definition === undefined) return {}
    return { ...valuesOf(evaluateAll(compileFlagSet(definition), context, this.clock.now())) }
  }

  /** The same for many contexts at one instant, reading the flag set once. */
  async evaluateEach(
    environment: Environment,
    contexts: readonly EvaluationContext[],
  ): Promise<readonly FlagValues[]> {
    const definition = await this.storage.loadFlagSet(environment.id)
    if (definition === undefined) return contexts.map(() => ({}))
    const flagSet = compileFlagSet(definition)
    return contexts.map((context) => valuesOf(evaluateAll(flagSet, context, this.clock.now())))
  }

  /** How often the environment has been published. */
  async version(environment: Environment): Promise<number> {
    return (await this.storage.loadChanges(environment.id, 0)).version
  }

  async audit(): Promise<readonly AuditEvent[]> {
    return (await this.storage.list('auditEvent', {})).data
  }
}

/** All of a body, as a caller who waits for it would see it. */
export async function textOf(body: Reply['body']): Promise<string> {
  if (body === null || typeof body === 'string') return body ?? ''
  let text = ''
  for await (const piece of body) text += piece
  return text
}

function bytesOf(body: unknown): Uint8Array | undefined {
  if (body === undefined || body instanceof Uint8Array) return body
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
}

/** The parts of an address that every test needs. */
export function addressesOf({ project, live, staging }: Tenant) {
  const flags = `/projects/${project.id}/flags`
  const stateIn = (environment: Environment) => (flagId: string) =>
    `/projects/${project.id}/envs/${environment.id}/flags/${flagId}`
  return {
    flags,
    flag: (id: string) => `${flags}/${id}`,
    variations: (id: string) => `${flags}/${id}/variations`,
    live: stateIn(live),
    staging: stateIn(staging),
    rules: (id: string) => `${stateIn(live)(id)}/targeting-rules`,
    rollouts: (id: string) => `${stateIn(live)(id)}/rollouts`,
    segments: `/projects/${project.id}/segments`,
  }
}
