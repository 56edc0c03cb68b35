import { vi } from 'vitest'
import { logInReply, ORG, PROJECT, reply } from './fake-server.ts'

/** The id of the environment of the shop. */
export const ENVIRONMENT = '33333333-3333-4333-8333-333333333333'
/** The id of the flag of the shop. */
export const FLAG = '44444444-4444-4444-8444-444444444444'
/** The id of the segment of the shop. */
export const SEGMENT = '55555555-5555-4555-8555-555555555555'
/** The id of the targeting rule of the flag. */
export const RULE = '66666666-6666-4666-8666-666666666666'

const [ON, OFF] = ['77777777-7777-4777-8777-777777777777', '88888888-8888-4888-8888-888888888888']
const TIME = '2026-01-01T00:00:00.000Z'
const record = { created_at: TIME, updated_at: TIME, deleted_at: null, revision: 1 }

const environment = {
  ...{ id: ENVIRONMENT, project_id: PROJECT, key: 'live', name: 'Live', order_index: 0 },
  ...{ context_privacy: 'minimal', is_production: true, comment_required: false },
  ...{ kept_attributes: [], is_default: true, ...record },
}
const project = {
  ...{ id: PROJECT, key: 'shop', name: 'Shop', org_id: ORG, description: '' },
  ...{ new_flags_client_visible: false, environments: [environment], ...record },
}

function variation(id: string | undefined, key: string) {
  const own = { id, flag_id: FLAG, project_id: PROJECT, key, name: key, value: key }
  return { ...record, ...own, description: '', order_index: 0, is_default: key === 'true' }
}

const flag = {
  ...{ id: FLAG, project_id: PROJECT, key: 'checkout', name: 'Checkout', description: '' },
  ...{ type: 'boolean', tags: ['shop'], client_visible: true, archived: false },
  ...{ archived_at: null, last_evaluated_at: null, ...record },
  variations: [variation(ON, 'true'), variation(OFF, 'false')],
}
const segment = {
  ...{ id: SEGMENT, project_id: PROJECT, key: 'partners', name: 'Partners', description: '' },
  ...{ rules: [], logical_op: 'AND', force: false, key_attribute: 'user.key' },
  ...{ included_count: 0, excluded_count: 0, ...record },
}
const state = {
  ...{ is_active: true, default_variation_id: ON, off_variation_id: OFF },
  ...{ targets: [], prerequisites: [] },
}
const rule = {
  ...{ id: RULE, name: 'Customers', kind: 'custom', segment_id: null, rollout_id: null },
  conditions: [{ attribute: 'plan', operator: 'eq', value: 'pro' }],
  variation_id: ON,
}

/** A request that is no read. */
interface FakeChange {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly signal: AbortSignal | null | undefined
}

/** A server with one project, environment, flag and segment, in place of `fetch`. */
export class FakeShop {
  flag = flag
  segment = segment
  configuration = { state, targeting_rules: [rule], rollouts: [], revision: 1 }
  /** The versions of the environment, and the audit log, in their wire form. */
  versions: readonly object[] = []
  auditLog: readonly object[] = []
  userId = 'user-1'
  /** `false` sends no events. */
  isStreaming = true
  /** `true` leaves the requests with the method PUT without a response. */
  isSilent = false
  /** The requests that are no reads. */
  readonly changes: FakeChange[] = []
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined

  constructor() {
    vi.stubGlobal('fetch', async (url: string, init: RequestInit = {}) => {
      const { method = 'GET', headers, signal } = init
      if (method !== 'GET')
        this.changes.push({ method, url, headers: new Headers(headers), signal })
      if (method === 'PUT' && this.isSilent) return new Promise<never>(() => undefined)
      const path = url.split('?')[0] ?? ''
      if (path === `/projects/${PROJECT}/events`) return this.#events(init.signal)
      const isStale = new Headers(headers).get('If-Match') !== `"${this.configuration.revision}"`
      if (method === 'PUT' && isStale) return this.#conflict()
      return this.#answers()[path]?.() ?? reply(null, { status: 404 })
    })
  }

  /** Renames the rule as another editor does: without a version. */
  renameRule(name: string): void {
    const revision = this.configuration.revision + 1
    this.configuration = { ...this.configuration, targeting_rules: [{ ...rule, name }], revision }
    const actor = { id: 'user-2', name: 'Grace' }
    this.send('project', { id: FLAG, event_type: 'flag.configured', actor })
  }

  /** Sends an event to the open stream. */
  send(event: string, data: object): void {
    if (!this.isStreaming) return
    const text = `event: ${event}\nid: ${PROJECT}:1\ndata: ${JSON.stringify(data)}\n\n`
    this.#stream?.enqueue(new TextEncoder().encode(text))
  }

  #answers(): Readonly<Record<string, () => Response>> {
    const own = `/projects/${PROJECT}`
    return {
      '/auth/me': () => reply(logInReply('owner', this.userId)),
      '/auth/methods': () => reply({ password: true, oidc: null }),
      '/auth/logout': () => reply(null),
      [`/organizations/${ORG}/projects`]: () => pageOf([project]),
      [own]: () => reply(project),
      [`${own}/segments`]: () => pageOf([this.segment]),
      [`${own}/segments/${SEGMENT}`]: () => recordOf(this.segment),
      [`${own}/flags/${FLAG}`]: () => recordOf(this.flag),
      [`${own}/envs/${ENVIRONMENT}/versions`]: () => pageOf(this.versions),
      '/audit/logs': () => pageOf(this.auditLog),
      [`${own}/envs/${ENVIRONMENT}/flags/${FLAG}/configuration`]: () =>
        recordOf(this.configuration),
    }
  }

  #conflict(): Response {
    const { configuration } = this
    return reply({ configuration, version: 1, changed_by: 'Grace' }, { status: 409 })
  }

  #events(signal: AbortSignal | null | undefined): Response {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#stream = controller
        controller.enqueue(new TextEncoder().encode(': open\n\n'))
        const end = () => controller.error(new DOMException('aborted', 'AbortError'))
        signal?.addEventListener('abort', end, { once: true })
      },
    })
    return new Response(body)
  }
}

function pageOf(data: readonly object[]): Response {
  return reply({ data, meta: { total: data.length, page: 1, pageCount: 1 } })
}

function recordOf(data: { readonly revision: number }): Response {
  return reply(data, { headers: { ETag: `"${data.revision}"` } })
}
