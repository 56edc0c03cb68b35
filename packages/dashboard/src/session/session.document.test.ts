import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeServer, logInReply, ORG, PROJECT, reply } from '../../test/fake-server.ts'
import { Session } from './session.ts'

let server: FakeServer
let session: Session
const params = { projectId: PROJECT, flagId: 'a' }
const DRAFT = 'ff-draft:1:["user-1","environment","flag"]'

beforeEach(async () => {
  server = new FakeServer()
  session = new Session('')
  server.next(reply(logInReply()))
  await session.load()
})
afterEach(() => {
  vi.unstubAllGlobals()
  sessionStorage.clear()
})

describe('Session', () => {
  it('A role decides what its user may do.', () => {
    expect(session.may('flags.write')).toBe(true)
    expect(session.may('projects.write')).toBe(false)
  })

  it('A session without a user is logged out, and asks for nothing.', async () => {
    const other = new Session('')
    server.next(reply(null, { status: 401 }))
    expect(await other.load()).toMatchObject({ status: 'loggedOut', isLogInNeeded: false })
  })

  it('A session that ends during a request continues it after a new log-in, with the new token.', async () => {
    server.next(reply(null, { status: 401 }))
    const call = session.api.call('deleteFlag', { params })
    await expect.poll(() => session.state().isLogInNeeded).toBe(true)
    server.next(reply({ ...logInReply(), csrf_token: 'new' })).next(reply(null))
    await session.logIn('user-1@acme.example', 'password')
    await call
    expect(server.requests.at(-1)?.headers.get('X-CSRF-Token')).toBe('new')
    expect(session.state().isLogInNeeded).toBe(false)
  })

  it('A request of one user is not repeated after another user has logged in.', async () => {
    server.next(reply(null, { status: 401 }))
    const call = session.api.call('deleteFlag', { params })
    await expect.poll(() => session.state().isLogInNeeded).toBe(true)
    server.next(reply(logInReply('editor', 'user-2')))
    await session.logIn('user-2@acme.example', 'password')
    await expect(call).rejects.toMatchObject({ status: 401 })
  })

  it('A 403 loads the role again.', async () => {
    server.next(reply(null, { status: 403 })).next(reply(logInReply('viewer')))
    await expect(session.api.call('deleteFlag', { params })).rejects.toMatchObject({ status: 403 })
    expect(session.may('flags.write')).toBe(false)
  })

  it('A log-out forgets the user and the token.', async () => {
    server.next(reply(null))
    await session.logOut()
    expect(session.state()).toEqual({
      status: 'loggedOut',
      logIn: undefined,
      organizationId: null,
      isLogInNeeded: false,
    })
  })

  it('A log-out removes the stored drafts of this tab.', async () => {
    sessionStorage.setItem(DRAFT, '{}')
    server.next(reply(null))
    await session.logOut()
    expect(sessionStorage.getItem(DRAFT)).toBeNull()
  })

  it('A log-out that fails keeps the session and its drafts.', async () => {
    sessionStorage.setItem(DRAFT, '{}')
    await expect(session.logOut()).rejects.toMatchObject({ code: 'UNREACHABLE' })
    expect(session.state().status).toBe('loggedIn')
    expect(sessionStorage.getItem(DRAFT)).toBe('{}')
  })

  it('A log-in of the same user keeps the drafts; one of another user removes them.', async () => {
    sessionStorage.setItem(DRAFT, '{}')
    server.next(reply(logInReply())).next(reply(logInReply('editor', 'user-2')))
    await session.load()
    expect(sessionStorage.getItem(DRAFT)).toBe('{}')
    await session.load()
    expect(sessionStorage.getItem(DRAFT)).toBeNull()
  })

  it('A request that is refused because another user has logged in is not repeated.', async () => {
    server.next(reply(null, { status: 403 })).next(reply(logInReply('owner', 'user-2')))
    await expect(session.api.call('deleteFlag', { params })).rejects.toMatchObject({ status: 403 })
    expect(server.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1)
    expect(session.state().logIn?.user.id).toBe('user-2')
  })

  it('A session that has ended in another tab asks for a log-in, and keeps the page.', async () => {
    server.next(reply(null, { status: 401 }))
    await session.load()
    expect(session.state()).toMatchObject({ status: 'loggedIn', isLogInNeeded: true })
  })

  it('A user who has no access to the selected organization gets an organization of its own.', async () => {
    server.next(reply(null, { status: 404 })).next(reply(logInReply('editor', 'user-2')))
    await session.load()
    expect(server.requests.at(-2)?.headers.get('X-FF-Organization')).toBe(ORG)
    expect(server.requests.at(-1)?.headers.get('X-FF-Organization')).toBeNull()
    expect(session.state().logIn?.user.id).toBe('user-2')
  })
})
