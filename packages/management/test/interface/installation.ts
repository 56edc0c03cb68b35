import { type Capabilities, memory } from '@ff/storage'
import { expect } from 'vitest'
import { FakeClock, settle } from '../../../server/test/fake-clock.ts'
import { ScryptPasswordHasher } from '../../src/node/password-hasher.ts'
import { openApiDocument } from '../../src/openapi/openapi.ts'
import { createManagedServer, type ManagedServer } from '../world/managed-server.ts'
import { expectToFitOpenApi, isInOpenApi } from '../world/openapi.ts'

/** Any JSON of a response. */
// biome-ignore lint/suspicious/noExplicitAny: the tests assert the shape of responses
export type Json = any

/** A response with its parsed body. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Json
}

const SYSTEM = { id: 'system', email: '', name: 'System', role: 'platform', orgId: null } as const
const document = openApiDocument({ basePath: '' })

/** Matches a UUID. */
export const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
/** Matches a date-time with milliseconds in UTC. */
export const DATE_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
/** Matches any string. */
export const TEXT = expect.any(String)
/** Matches any number. */
export const NUMBER = expect.any(Number)

/** A complete server with one organization, which tests use only over HTTP. */
export class Installation {
  readonly flags: ManagedServer
  readonly clock = new FakeClock()
  token = ''
  orgId = ''
  projectId = ''
  environmentId = ''
  sdkKey = ''

  private constructor(parts: Capabilities) {
    this.flags = createManagedServer({
      ...parts,
      clock: this.clock,
      managementRateLimit: 1_000_000,
      passwordHasher: new ScryptPasswordHasher({ log2N: 4, r: 8, p: 1 }),
    })
  }

  static async open(parts: Capabilities = memory()): Promise<Installation> {
    const made = new Installation(parts)
    await made.flags.start()
    const owner = { params: { orgId: null }, body: { name: 'test', role: 'platform' } } as const
    made.token = (await made.flags.as(SYSTEM).createAccessToken(owner)).token ?? ''
    made.orgId = (await made.done('POST', '/organizations', { name: 'Acme' })).id
    const project = await made.done('POST', `/organizations/${made.orgId}/projects`, {
      key: 'shop',
    })
    made.projectId = project.id
    made.environmentId = project.environments[0].id
    made.sdkKey = (await made.addSdkKey()).key
    return made
  }

  addSdkKey(changes: Json = {}): Promise<Json> {
    const body = { name: 'app', kind: 'client', ...changes }
    return this.done(
      'POST',
      `/projects/${this.projectId}/envs/${this.environmentId}/sdk-keys`,
      body,
    )
  }

  /** Creates a flag with the variations `off` (the default) and `on`. `changes` replaces fields. */
  addFlag(key: string, changes: Json = {}): Promise<Json> {
    const variations = [
      { key: 'off', value: 'off', is_default: true },
      { key: 'on', value: 'on' },
    ]
    const body = { key, type: 'string', variations, ...changes }
    return this.done('POST', `/projects/${this.projectId}/flags`, body)
  }

  addRule(flagId: string, body: Json): Promise<Json> {
    return this.done('POST', this.rules(flagId), { name: 'rule', conditions: [], ...body })
  }

  rules(flagId: string): string {
    return `/projects/${this.projectId}/envs/${this.environmentId}/flags/${flagId}/targeting-rules`
  }

  /** Sends a management request and returns `data`. Throws if the request is refused. */
  async done(method: string, address: string, body?: Json): Promise<Json> {
    const answer = await this.manage(method, address, body)
    if (answer.status >= 300)
      throw new Error(`${method} ${address}: ${JSON.stringify(answer.body)}`)
    return answer.body.data
  }

  /** Sends a management request and waits until its change is served. */
  async manage(method: string, address: string, body?: Json): Promise<Answer> {
    const headers = { authorization: `Bearer ${this.token}` }
    const answer = await this.send(method, address, headers, body)
    if (method !== 'GET') await settle()
    return answer
  }

  evaluate(context: Json, key = this.sdkKey): Promise<Answer> {
    return this.send('POST', '/evaluator/evaluate', { 'x-api-key': key }, { context })
  }

  /** Sends a request. Asserts that the response matches the OpenAPI document if it has the path. */
  async send(
    method: string,
    address: string,
    headers: Readonly<Record<string, string>>,
    body?: Json,
  ): Promise<Answer> {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const type = text === undefined ? {} : { 'content-type': 'application/json' }
    const response = await this.flags.fetch(
      new Request(`http://flags.test${address}`, {
        method,
        headers: { ...type, ...headers },
        ...(text === undefined ? {} : { body: text }),
      }),
    )
    const { status } = response
    const received = parsed(await response.text(), response.headers.get('content-type') ?? '')
    const path = address.split('?')[0] ?? ''
    if (isInOpenApi(document, { method, path }))
      expectToFitOpenApi(document, { method, path, status, body: received })
    return { status, headers: response.headers, body: received }
  }
}

function parsed(text: string, type: string): Json {
  if (!type.startsWith('application/x-ndjson')) return JSON.parse(text || 'null')
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line))
}
