import { type EndpointName, endpoints } from '@ff/protocol/management'
import type { FirstRequests } from '../first-requests/first-requests.ts'
import { messages } from '../messages/messages.ts'
import { ApiError } from './api-error.ts'
import {
  type AnyInput,
  type CallInput,
  type DataOf,
  type EncodedRequest,
  encodeRequest,
} from './api-request.ts'
import { readReply } from './reply.ts'

const TIMEOUT_S = 30
const MOST_REMEMBERED = 100

/** The result of a call: the decoded data, and the `ETag` of the response if it has one. */
export interface Result<T> {
  readonly data: T
  readonly etag: string | undefined
}

/** What identifies the user in a request, in addition to the cookie. */
export interface Credentials {
  readonly csrfToken: string | null
  readonly organizationId: string | null
}

/** The connection of the API to the session. */
export interface ApiOptions {
  /** The path of the management API on this host, such as `/flags`; empty for the root. */
  readonly apiPath: string
  /** The requests that were sent before the application was loaded. */
  readonly firstRequests?: FirstRequests | undefined
  readonly credentials: () => Credentials
  /** Called after a 401. Resolves to `true` if the user has logged in again. */
  readonly onUnauthenticated: () => Promise<boolean>
  /** Called after a 403. Resolves to `true` if the request can succeed with the new credentials. */
  readonly onForbidden: () => Promise<boolean>
}

/** The client of the management API. */
export interface Api {
  /**
   * Calls an endpoint of the endpoint table. A request that fails with 401 is repeated after the
   * user has logged in again. Throws an `ApiError`, or the reason of `signal` if it is aborted.
   */
  call<N extends EndpointName>(name: N, input?: CallInput<N>): Promise<Result<DataOf<N>>>
  /** Opens the event stream of a project. The caller reads the body. Does not wait for a log-in. */
  openEvents(projectId: string, lastEventId: string | null, signal: AbortSignal): Promise<Response>
  /** Returns the address of an endpoint without a body, for a link. */
  addressOf<N extends EndpointName>(name: N, input?: CallInput<N>): string
  /** The address of the reference documentation of the API. */
  readonly docsAddress: string
  /** Forgets all responses, for example after a log-out. */
  forget(): void
}

/** Creates the client of the management API. */
export function createApi(options: ApiOptions): Api {
  const remembered = new Map<string, Result<unknown>>()
  const call = async (name: EndpointName, input: AnyInput): Promise<Result<unknown>> => {
    const request = encodeRequest(name, input)
    const attempt = () => new Attempt(options, remembered, { name, input, request }).run()
    try {
      return await attempt()
    } catch (error) {
      if (!(await canRepeat(options, name, error))) throw error
      return attempt()
    }
  }
  return {
    call: (name, input) => call(name, (input ?? {}) as AnyInput) as never,
    openEvents: (projectId, lastEventId, signal) => {
      const { path } = encodeRequest('streamProjectEvents', { params: { projectId } })
      const headers = headersOf(options, 'streamProjectEvents', {})
      if (lastEventId !== null) headers['Last-Event-ID'] = lastEventId
      const init = { headers, signal, credentials: 'same-origin', cache: 'no-store' } as const
      return fetch(options.apiPath + path, init)
    },
    addressOf: (name, input) =>
      options.apiPath + encodeRequest(name, (input ?? {}) as AnyInput).path,
    docsAddress: `${options.apiPath}/docs`,
    forget: () => {
      remembered.clear()
      options.firstRequests?.forget()
    },
  }
}

async function canRepeat(options: ApiOptions, name: EndpointName, error: unknown) {
  // A log-in is not repeated, and the session itself reports that there is none.
  if (!(error instanceof ApiError) || endpoints[name].permission === 'anyone') return false
  if (name === 'getLogIn' || name === 'logOut') return false
  if (error.status === 401) return options.onUnauthenticated()
  return error.status === 403 ? options.onForbidden() : false
}

function headersOf(
  { credentials }: ApiOptions,
  name: EndpointName,
  input: AnyInput,
): Record<string, string> {
  const { csrfToken, organizationId } = credentials()
  const organization = input.organizationId ?? organizationId
  const headers: Record<string, string> = {}
  if (organization !== null) headers['X-FF-Organization'] = organization
  if (endpoints[name].method !== 'GET' && csrfToken !== null) headers['X-CSRF-Token'] = csrfToken
  if (input.ifMatch !== undefined) headers['If-Match'] = input.ifMatch
  if (input.idempotencyKey !== undefined) headers['Idempotency-Key'] = input.idempotencyKey
  if (input.comment) headers['X-FF-Comment'] = encodeURIComponent(input.comment)
  return headers
}

interface Prepared {
  readonly name: EndpointName
  readonly input: AnyInput
  readonly request: EncodedRequest
}

/** One attempt to send a request. */
class Attempt {
  readonly #options: ApiOptions
  readonly #remembered: Map<string, Result<unknown>>
  readonly #prepared: Prepared

  constructor(options: ApiOptions, remembered: Map<string, Result<unknown>>, prepared: Prepared) {
    this.#options = options
    this.#remembered = remembered
    this.#prepared = prepared
  }

  async run(): Promise<Result<unknown>> {
    const { name, input, request } = this.#prepared
    const headers = headersOf(this.#options, name, input)
    const key = `${headers['X-FF-Organization'] ?? ''} ${request.path}`
    const isRead = endpoints[name].method === 'GET'
    const past = isRead ? this.#remembered.get(key) : undefined
    if (past?.etag !== undefined) headers['If-None-Match'] = past.etag
    const result = await this.#send(headers, past)
    if (isRead && result.etag !== undefined) this.#remember(key, result)
    return result
  }

  async #send(headers: Record<string, string>, past: Result<unknown> | undefined) {
    const { name, input, request } = this.#prepared
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(), TIMEOUT_S * 1000)
    const signal =
      input.signal === undefined ? limit.signal : AbortSignal.any([input.signal, limit.signal])
    const { method } = endpoints[name]
    if (request.body !== undefined) headers['Content-Type'] = 'application/json'
    const init: RequestInit = { method, headers, signal, credentials: 'same-origin' }
    if (request.body !== undefined) init.body = request.body
    try {
      const response = await this.#fetch(init, signal)
      if (response.status === 304 && past !== undefined) return past
      const data = await readReply(name, response)
      return { data, etag: response.headers.get('ETag') ?? undefined }
    } catch (error) {
      if (error instanceof ApiError) throw error
      input.signal?.throwIfAborted()
      throw limit.signal.aborted ? timedOut() : unreachable()
    } finally {
      clearTimeout(timer)
    }
  }

  /** Sends the request, unless it was sent before the application was loaded. */
  #fetch(init: RequestInit, signal: AbortSignal): Promise<Response> {
    const { firstRequests, apiPath } = this.#options
    const { input, request } = this.#prepared
    const canTake = init.method === 'GET' && input.organizationId === undefined
    const first = canTake ? firstRequests?.take(request.path) : undefined
    if (first === undefined) return fetch(apiPath + request.path, init)
    const abort = () => first.abort(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    return first.response
  }

  /** Keeps the newest responses, by the order of the map. */
  #remember(key: string, result: Result<unknown>): void {
    this.#remembered.delete(key)
    this.#remembered.set(key, result)
    const [oldest] = this.#remembered.keys()
    if (this.#remembered.size > MOST_REMEMBERED && oldest !== undefined)
      this.#remembered.delete(oldest)
  }
}

function timedOut(): ApiError {
  const message = messages.errors.timeout(TIMEOUT_S)
  return new ApiError({ status: 0, code: 'TIMEOUT', message })
}

function unreachable(): ApiError {
  return new ApiError({ status: 0, code: 'UNREACHABLE', message: messages.errors.unreachable })
}
