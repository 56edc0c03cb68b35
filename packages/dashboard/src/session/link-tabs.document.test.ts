import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { FakeServer, logInReply, reply } from '../../test/fake-server.ts'
import { linkTabs } from './link-tabs.ts'
import { Session } from './session.ts'

let server: FakeServer
let ends: readonly (() => void)[] = []

async function openTab(): Promise<Session> {
  const session = new Session('')
  ends = [...ends, linkTabs(session)]
  server.next(reply(logInReply()))
  await session.load()
  return session
}

beforeEach(() => {
  server = new FakeServer()
})
afterEach(() => {
  for (const end of ends) end()
  ends = []
  vi.unstubAllGlobals()
})

it('A log-out in one tab asks for a log-in in the other, which keeps its page.', async () => {
  const first = await openTab()
  const second = await openTab()
  server.next(reply(null)).next(reply(null, { status: 401 }))
  await first.logOut()
  await expect.poll(() => second.state().isLogInNeeded).toBe(true)
  expect(first.state().status).toBe('loggedOut')
})

it('A log-in of another user in one tab is the user of the other tab too.', async () => {
  const first = await openTab()
  const second = await openTab()
  for (let index = 0; index < 4; index += 1)
    server.next(() => reply(logInReply('editor', 'user-2')))
  await first.logIn('user-2@acme.example', 'a password')
  await expect.poll(() => second.state().logIn?.user.id).toBe('user-2')
})

it('A tab that becomes visible loads its user again.', async () => {
  const session = await openTab()
  server.next(reply(logInReply('viewer')))
  document.dispatchEvent(new Event('visibilitychange'))
  await expect.poll(() => session.may('flags.write')).toBe(false)
})
