import { compileFlagSet, type EvaluationContext, type FlagValues } from '@ff/core'
import { evaluateAll, valuesOf } from '@ff/core/all-flags'
import type { AuditEvent, Environment, Project, Role } from '@ff/protocol/management'
import type { ConnectedManagementPlane } from '@ff/server/plane'
import { type FlagSetChange, memory, type Storage } from '@ff/storage'
import { extensions } from '../../../server/src/evaluation/shared-compiler.ts'
import {
  bodyTooLarge,
  type Handle,
  jsonBody,
  type Reply,
} from '../../../server/src/http/exchange.ts'
import { silentLogger } from '../../../server/src/runtime/logger.ts'
import { FakeClock } from '../../../server/test/fake-clock.ts'
import type { Actor } from '../../src/access/actors.ts'
import type { ManagementUseCases } from '../../src/api/use-cases.ts'
import type { ChangeServices } from '../../src/changes/apply-change.ts'
import { PublishCheck } from '../../src/changes/publish-check.ts'
import type { As } from '../../src/create-management.ts'
import { ScryptPasswordHasher } from '../../src/node/password-hasher.ts'
import { openApiDocument } from '../../src/openapi/openapi.ts'
import { connectPlane } from './connected-plane.ts'
import { eventsIn, firstOf, isEventStream } from './event-stream.ts'
import type { ManagedOptions } from './managed-server.ts'
import { expectToFitOpenApi, isInOpenApi } from './openapi.ts'
import { repeating } from './stores.ts'

/** Any JSON of a response. */
// biome-ignore lint/suspicious/noExplicitAny: the tests assert the shape of responses
export type Json = any

/** A response with the parts of its envelope. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The values of `Set-Cookie`. */
  readonly cookies: readonly string[]
  readonly text: string
  readonly message: string
  readonly data: Json
}

/** The optional parts of a request. */
export interface Call {
  readonly token?: string | undefined
  /** The body, which is sent as JSON. Text and bytes are sent unchanged. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** The IP address of the client. */
  readonly address?: string
  readonly isEncrypted?: boolean
}

/** An organization with a project, its two environments and a token for every role. */
export interface Tenant {
  readonly orgId: string
  readonly project: Project
  readonly live: Environment
  readonly staging: Environment
  readonly tokens: Readonly<Record<Role, string>>
}

/** The platform actor that creates the test data. */
export const SYSTEM_ACTOR: Actor = {
  id: 'system',
  email: '',
  name: 'System',
  role: 'platform',
  orgId: null,
}

/** The document that every response is compared with. */
const document = openApiDocument({ basePath: '' })

/** The password hasher of the server, with a low cost. */
const passwordHasher = new ScryptPasswordHasher({ log2N: 4, r: 8, p: 1 })

/** A management plane over a real store, to which a test adds organizations. */
export class World {
  readonly storage: Storage
  readonly clock = new FakeClock()
  readonly hints: FlagSetChange[] = []
  /** The use cases for the platform actor. */
  readonly management: ManagementUseCases
  /** Returns the use cases for another actor. */
  readonly as: As
  /** The services for use cases and jobs that a test calls directly. */
  readonly services: ChangeServices
  readonly #plane: ConnectedManagementPlane<As>
  readonly #handle: Handle

  private constructor(storage: Storage, more: ManagedOptions) {
    const { clock } = this
    const { changeFeed } = memory()
    void changeFeed.subscribe((change) => {
      if (change.type !== 'resync') this.hints.push(change)
    })
    // The clock is stopped, so all requests of a test are in the same minute.
    const standing = { managementRateLimit: 1_000_000 }
    const own = { storage, changeFeed, clock, passwordHasher, ...standing }
    const { plane, handle } = connectPlane({ ...own, ...more })
    this.storage = storage
    this.as = plane.as
    this.management = plane.as(SYSTEM_ACTOR)
    this.services = {
      ...{ storage, changeFeed, clock, logger: silentLogger },
      publishCheck: new PublishCheck(),
      wakeWebhooks: () => undefined,
      instance: { serve: async () => undefined, writeUsage: async () => undefined },
    }
    this.#plane = plane
    this.#handle = handle
  }

  /**
   * Creates a world, by default with a store in memory that runs the work of each transaction twice.
   */
  static async create(
    storage: Storage = repeating(memory().storage),
    more: ManagedOptions = {},
  ): Promise<World> {
    await storage.migrate()
    return new World(storage, more)
  }

  /** Starts the management plane, as the start of a server does. */
  start(): Promise<void> {
    return this.#plane.start()
  }

  /** Closes the management plane, as the close of a server does. */
  stop(): Promise<void> {
    return this.#plane.close()
  }

  /** Runs a background job of the management plane once. */
  async runJob(name: string): Promise<void> {
    const job = this.#plane.jobs.find((each) => each.name === name)
    if (job === undefined) throw new Error(`There is no job ${name}.`)
    await job.run()
  }

  async addTenant(name: string): Promise<Tenant> {
    const { management } = this
    const { id: orgId } = await management.createOrganization({ body: { name } })
    const params = { orgId }
    const created = await management.createProject({ params, body: { key: 'shop' } })
    const [live, staging] = created.environments
    if (live === undefined || staging === undefined)
      throw new Error('The project must have environments.')
    const tokenOf = async (role: Role) => {
      const owner = { orgId: role === 'platform' ? null : orgId }
      const body = { name: `${name} ${role}`, role }
      return (await management.createAccessToken({ params: owner, body })).token
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
    { token, body, headers, address: from, isEncrypted = false }: Call = {},
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
        return jsonBody(bytes ?? new Uint8Array())
      },
      bytes: async (maxBytes) => {
        if ((bytes?.byteLength ?? 0) > maxBytes) throw bodyTooLarge(maxBytes)
        return bytes ?? new Uint8Array()
      },
      address: from ?? '192.0.2.1',
      isEncrypted,
      hasBody: bytes !== undefined,
      onClosed: () => undefined,
    })
    const { status, headers: answered, cookies = [] } = reply
    const isEvents = isEventStream(answered['Content-Type'])
    const text = isEvents ? await firstOf(reply.body) : await textOf(reply.body)
    const isLines = answered['Content-Type']?.startsWith('application/x-ndjson') || isEvents
    const parsed = isEvents ? eventsIn(text) : isLines ? linesOf(text) : jsonOf(text)
    const isDescribed = isInOpenApi(document, { method, path })
    if (isDescribed) expectToFitOpenApi(document, { method, path, status, body: parsed })
    if (isLines) return { status, headers: answered, cookies, text, message: '', data: parsed }
    const { statusCode, message, data } = parsed ?? { statusCode: status, message: '', data: null }
    if (statusCode !== status)
      throw new Error(`The envelope has the status ${statusCode}, the response ${status}.`)
    return { status, headers: answered, cookies, text, message, data }
  }

  /** Returns the values of all flags for a context at the current time. */
  async evaluate(environment: Environment, context: EvaluationContext = {}): Promise<FlagValues> {
    const definition = await this.storage.loadFlagSet(environment.id)
    if (definition === undefined) return {}
    const flagSet = compileFlagSet(definition, { extensions })
    return { ...valuesOf(evaluateAll(flagSet, context, this.clock.now())) }
  }

  /** Returns the values for several contexts and reads the flag set once. */
  async evaluateEach(
    environment: Environment,
    contexts: readonly EvaluationContext[],
  ): Promise<readonly FlagValues[]> {
    const definition = await this.storage.loadFlagSet(environment.id)
    if (definition === undefined) return contexts.map(() => ({}))
    const flagSet = compileFlagSet(definition, { extensions })
    return contexts.map((context) => valuesOf(evaluateAll(flagSet, context, this.clock.now())))
  }

  /** Returns the version of the environment's flag set. */
  async version(environment: Environment): Promise<number> {
    return (await this.storage.loadChanges(environment.id, 0)).version
  }

  async audit(): Promise<readonly AuditEvent[]> {
    return (await this.storage.list('auditEvent', {})).data
  }
}

/** Parses a body; returns `undefined` for the empty body of a 304. */
function jsonOf(text: string): Json {
  return text === '' ? undefined : JSON.parse(text)
}

function linesOf(text: string): readonly Json[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

/** Returns the complete text of a response body. */
export async function textOf(body: Reply['body']): Promise<string> {
  if (body === null || typeof body === 'string') return body ?? ''
  if (body instanceof Uint8Array) return new TextDecoder().decode(body)
  let text = ''
  for await (const piece of body) text += piece
  return text
}

function bytesOf(body: unknown): Uint8Array | undefined {
  if (body === undefined || body instanceof Uint8Array) return body
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
}

/** Returns the paths of the resources in a project. */
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
