import { staleConfigurationCodec } from '@ff/protocol/management'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeServer, ORG, PROJECT, reply } from '../../test/fake-server.ts'
import { createApi } from './api.ts'
import { ApiError, errorDataOf } from './api-error.ts'

let server: FakeServer
const onUnauthenticated = vi.fn(async () => false)
const onForbidden = vi.fn(async () => false)
const api = createApi({
  apiPath: '/flags',
  credentials: () => ({ csrfToken: 'secret', organizationId: ORG }),
  onUnauthenticated,
  onForbidden,
})
const params = { projectId: PROJECT }
const body = { key: 'a', type: 'boolean' as const }
const emptyPage = { data: [], meta: { total: 0, page: 1, page_count: 0, pageCount: 0 } }
const page = { data: [], meta: { total: 0, page: 1, pageCount: 0 } }

beforeEach(() => {
  server = new FakeServer()
  api.forget()
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.clearAllMocks()
})

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => (error instanceof ApiError ? error : undefined),
  )

describe('call', () => {
  it('A request without a response within 30 seconds fails with TIMEOUT.', async () => {
    vi.useFakeTimers()
    server.next(({ signal }) => {
      return new Promise<Response>((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason))
      })
    })
    const failure = failureOf(api.call('listFlagSummaries', { params }))
    await vi.advanceTimersByTimeAsync(29_000)
    expect(server.requests[0]?.signal?.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1000)
    vi.useRealTimers()
    expect(await failure).toMatchObject({ code: 'TIMEOUT', isUnavailable: true })
  })

  it('A call fills in the path, encodes the query, and selects the organization.', async () => {
    server.next(reply(page))
    const query = {
      environmentId: 'live',
      sort: { field: 'updatedAt', direction: 'desc' },
    } as const
    await api.call('listFlagSummaries', { params, query })
    const [request] = server.requests
    expect(request?.url).toBe(
      `/flags/projects/${PROJECT}/flag-summaries?env_id=live&sort=updated_at%3Adesc`,
    )
    expect(request?.headers.get('X-FF-Organization')).toBe(ORG)
    expect(request?.headers.has('X-CSRF-Token')).toBe(false)
  })

  it('A change sends the CSRF token, the comment, and the keys that protect it.', async () => {
    server.next(reply(null))
    const options = { ifMatch: '"3"', idempotencyKey: 'once', comment: 'Größe 🛒' }
    await api.call('deleteFlag', { params: { ...params, flagId: 'a' }, ...options })
    const headers = server.requests[0]?.headers
    expect(headers?.get('X-CSRF-Token')).toBe('secret')
    expect(headers?.get('If-Match')).toBe('"3"')
    expect(headers?.get('Idempotency-Key')).toBe('once')
    expect(headers?.get('X-FF-Comment')).toBe('Gr%C3%B6%C3%9Fe%20%F0%9F%9B%92')
  })

  it('A repeated read sends the ETag, and 304 returns the data of the first response.', async () => {
    server.next(reply(page, { headers: { ETag: '"v1"' } }))
    server.next(new Response(null, { status: 304 }))
    const first = await api.call('listFlagSummaries', { params })
    const second = await api.call('listFlagSummaries', { params })
    expect(server.requests[1]?.headers.get('If-None-Match')).toBe('"v1"')
    expect(second).toEqual(first)
  })

  it('The issues of a refusal have property names.', async () => {
    const issues = [
      { path: 'client_visible', message: 'must be a boolean' },
      { path: 'variations.0.order_index', message: 'is unknown' },
    ]
    server.next(reply({ issues }, { status: 400, headers: { 'X-Request-Id': 'r-1' } }))
    const failure = await failureOf(api.call('createFlag', { params, body }))
    expect(failure?.issues[0]?.path).toBe('clientVisible')
    expect(failure).toMatchObject({ status: 400, code: 'INVALID_REQUEST', requestId: 'r-1' })
  })

  it('Input that the codec refuses is not sent.', async () => {
    const wrong = { key: 'not a key', type: 'boolean' as const }
    const failure = await failureOf(api.call('createFlag', { params, body: wrong }))
    expect(failure?.code).toBe('INVALID_INPUT')
    expect(failure?.issues[0]?.path).toBe('key')
    expect(server.requests).toHaveLength(0)
  })

  it.each([
    ['a page of a proxy', new Response('<h1>Bad gateway</h1>', { status: 502 }), 'INTERNAL'],
    ['HTML with status 200', new Response('<h1>Hello</h1>'), 'UNEXPECTED_REPLY'],
    ['data of another form', reply(emptyPage), 'UNEXPECTED_REPLY'],
  ])('The answer to a read that is %s is a plain error.', async (_, response, code) => {
    server.next(response)
    const failure = await failureOf(api.call('listFlagSummaries', { params }))
    expect(failure?.code).toBe(code)
  })

  it('A 429 has the seconds to wait, and says them.', async () => {
    server.next(reply(null, { status: 429, headers: { 'Retry-After': '7' } }))
    const failure = await failureOf(api.call('listFlagSummaries', { params }))
    expect(failure?.retryAfter).toBe(7)
    expect(failure?.message).toContain('7 seconds')
  })

  it('A server that cannot be reached is a plain error without a response.', async () => {
    const failure = await failureOf(api.call('listFlagSummaries', { params }))
    expect(failure).toMatchObject({ status: 0, code: 'UNREACHABLE', isUnavailable: true })
  })

  it('An aborted call rejects with the reason of its signal.', async () => {
    const controller = new AbortController()
    server.next(() => {
      controller.abort(new Error('left'))
      throw new DOMException('aborted', 'AbortError')
    })
    const call = api.call('listFlagSummaries', { params, signal: controller.signal })
    await expect(call).rejects.toThrow('left')
  })

  it('After a new log-in, a request that failed with 401 is repeated with the same body.', async () => {
    onUnauthenticated.mockResolvedValueOnce(true)
    server.next(reply(null, { status: 401 })).next(reply(null))
    await api.call('deleteFlag', { params: { ...params, flagId: 'a' } })
    expect(server.requests).toHaveLength(2)
    expect(onUnauthenticated).toHaveBeenCalledOnce()
  })

  it('A refused log-in asks for no other log-in.', async () => {
    server.next(reply(null, { status: 401 }))
    const failure = await failureOf(api.call('logIn', { body: { email: 'a', password: 'b' } }))
    expect(failure?.status).toBe(401)
    expect(onUnauthenticated).not.toHaveBeenCalled()
  })

  it('A 403 that stays is reported, and is not repeated.', async () => {
    server.next(reply(null, { status: 403 }))
    const failure = await failureOf(api.call('createFlag', { params, body }))
    expect(failure?.code).toBe('FORBIDDEN')
    expect(onForbidden).toHaveBeenCalledOnce()
    expect(server.requests).toHaveLength(1)
  })
})

describe('errorDataOf', () => {
  it('Data that is not valid is undefined.', () => {
    const error = new ApiError({ status: 409, code: 'CONFLICT', message: '', data: { a: 1 } })
    expect(errorDataOf(error, staleConfigurationCodec)).toBeUndefined()
  })
})
