import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeServer, logInReply, PROJECT, reply } from '../../test/fake-server.ts'
import { ApiError } from '../api/api-error.ts'
import { toQuery } from '../pages/flags/flags-search.ts'
import { createQueryClient } from '../queries/query-client.ts'
import { projectQuery } from '../queries/use-queries.ts'
import { Session } from '../session/session.ts'
import { FIRST_ROWS, FirstRequests } from './first-requests.ts'

const LIST = `p/${PROJECT}/flags`
const page = { data: [], meta: { total: 0, page: 1, pageCount: 0 } }
const params = { projectId: PROJECT }

let server: FakeServer
let first: FirstRequests
let session: Session

beforeEach(() => {
  server = new FakeServer()
  first = new FirstRequests('/flags')
  session = new Session('/flags', first)
})
afterEach(() => {
  first.forget()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const sent = () => server.requests.map(({ url }) => url)
const answerUntilAborted = () =>
  server.next(({ signal }) => {
    return new Promise<Response>((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason))
    })
  })

describe('the requests before the application is loaded', () => {
  it('The list of flags needs the log-in, the project and the first rows, at the addresses of the endpoint table.', () => {
    first.start(LIST, '')
    const query = { ...toQuery({}, []), page: 1, limit: FIRST_ROWS }
    expect(sent()).toEqual([
      session.api.addressOf('getLogIn'),
      session.api.addressOf('getProject', { params }),
      session.api.addressOf('listFlagSummaries', { params, query }),
    ])
  })

  it.each([
    ['login', '', 0],
    ['accept', '', 0],
    ['', '', 1],
    ['projects/new', '', 1],
    ['p/key-of-a-project/flags', '', 1],
    [`p/${PROJECT}/new-flag`, '', 2],
    [LIST, '?search=a', 2],
  ])('The page %j with the query %j needs %j requests.', (path, query, count) => {
    first.start(path, query)
    expect(sent()).toHaveLength(count)
  })

  it('The application takes each response once, and does not send its request again.', async () => {
    server
      .next(reply(logInReply()))
      .next(reply(null, { status: 404 }))
      .next(reply(page))
    first.start(LIST, '')
    expect((await session.load()).status).toBe('loggedIn')
    const query = { ...toQuery({}, []), page: 1, limit: FIRST_ROWS }
    const { data } = await session.api.call('listFlagSummaries', { params, query })
    expect(data.meta.total).toBe(0)
    expect(server.requests).toHaveLength(3)
    server.next(reply(page))
    await session.api.call('listFlagSummaries', { params, query })
    expect(server.requests).toHaveLength(4)
  })

  it('A failed request is reported as every other failure, and is sent again by the next try.', async () => {
    first.start('', '')
    const failure = await session.load().catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ApiError)
    expect(failure).toMatchObject({ code: 'UNREACHABLE' })
    server.next(reply(logInReply()))
    expect((await session.load()).status).toBe('loggedIn')
  })

  it('A request without a response within the time limit fails with TIMEOUT.', async () => {
    vi.useFakeTimers()
    answerUntilAborted()
    first.start('', '')
    const failure = session.load().catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(30_000)
    expect(await failure).toMatchObject({ code: 'TIMEOUT' })
  })

  it('After a 401, the responses of the page without a user are not used for the user who logs in.', async () => {
    const refused = () => reply(null, { status: 401 })
    server.next(refused()).next(refused()).next(refused())
    first.start(LIST, '')
    expect((await session.load()).status).toBe('loggedOut')
    server.next(reply(logInReply()))
    await session.logIn('ada@acme.example', 'a long password')
    server.next(reply(null, { status: 404 }))
    const query = createQueryClient().fetchQuery(projectQuery(session.api, PROJECT))
    await expect(query).rejects.toMatchObject({ status: 404 })
    expect(server.requests).toHaveLength(5)
  })

  it('A response that is not taken within 10 seconds is not used.', async () => {
    vi.useFakeTimers()
    server.next(reply(logInReply()))
    first.start('', '')
    await vi.advanceTimersByTimeAsync(10_000)
    expect(first.take('/auth/me')).toBeUndefined()
  })

  it('A request for another organization is sent, although the same path was requested.', async () => {
    server.next(reply(logInReply())).next(reply(logInReply()))
    first.start('', '')
    await session.selectOrganization('another')
    expect(server.requests[1]?.headers.get('X-FF-Organization')).toBe('another')
  })
})
