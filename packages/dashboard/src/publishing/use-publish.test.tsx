import type { Environment, FlagView } from '@ff/protocol/management'
import { QueryClientProvider } from '@tanstack/react-query'
import { act, renderHook, waitFor } from '@testing-library/react'
import type { ReactNode } from 'react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { FakeServer, logInReply, PROJECT, reply } from '../../test/fake-server.ts'
import { startFlagDraft } from '../draft/flag-draft.ts'
import { createQueryClient } from '../queries/query-client.ts'
import { Session } from '../session/session.ts'
import { SessionContext } from '../session/use-session.ts'
import type { FlagDraftHandle } from '../user-drafts/flag-draft-handle.ts'
import { usePublish } from './use-publish.ts'

const ENVIRONMENT = '33333333-3333-4333-8333-333333333333'
const FLAG = '44444444-4444-4444-8444-444444444444'
const state = { isActive: true, defaultVariationId: null, offVariationId: null }
const base = {
  state: { ...state, targets: [], prerequisites: [] },
  targetingRules: [],
  rollouts: [],
  revision: 1,
}
const wireState = {
  default_variation_id: null,
  off_variation_id: null,
  targets: [],
  prerequisites: [],
}
const configuration = {
  state: { ...wireState, is_active: false },
  targeting_rules: [],
  rollouts: [],
  revision: 2,
}

let server: FakeServer
let session: Session
const replace = vi.fn()
const listener = { onPublished: vi.fn(), onConflict: vi.fn() }

beforeEach(async () => {
  vi.clearAllMocks()
  server = new FakeServer()
  session = new Session('')
  server.next(reply(logInReply()))
  await session.load()
  server.requests.length = 0
})
afterEach(() => vi.unstubAllGlobals())

function publisherOfDraft() {
  const current = { ...base, state: { ...base.state, isActive: false } }
  const handle: FlagDraftHandle = {
    flag: { id: FLAG, projectId: PROJECT } as FlagView,
    environment: { id: ENVIRONMENT } as Environment,
    draft: { ...startFlagDraft({ base, etag: '"1"', version: null }), current },
    isChanged: true,
    dispatch: vi.fn(),
    replace,
    discard: vi.fn(),
  }
  const wrapper = ({ children }: { readonly children: ReactNode }) => (
    <SessionContext value={session}>
      <QueryClientProvider client={createQueryClient()}>{children}</QueryClientProvider>
    </SessionContext>
  )
  const { result } = renderHook(() => usePublish(handle, listener), { wrapper })
  act(() => result.current.review())
  return result
}

function published(): Response {
  const data = { configuration, version: 42, differences: [], moved: [] }
  return reply(data, { headers: { ETag: '"2"' } })
}

const puts = () => server.requests.filter(({ method }) => method === 'PUT')
const keys = () => puts().map(({ headers }) => headers.get('Idempotency-Key'))

it('Two clicks at once send the draft once, with its ETag and a key.', async () => {
  server.next(published())
  const publisher = publisherOfDraft()
  await act(async () => {
    await Promise.all([publisher.current.publish(), publisher.current.publish()])
  })
  expect(puts()).toHaveLength(1)
  expect(puts()[0]?.headers.get('If-Match')).toBe('"1"')
  expect(keys()[0]).toMatch(/^[0-9a-f-]{36}$/)
  expect(publisher.current.state).toMatchObject({
    phase: 'published',
    publication: { version: 42 },
  })
  expect(replace).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ etag: '"2"', version: 42, past: [] }),
  )
})

it('After a lost answer, a second attempt repeats the same request.', async () => {
  server.next(() => Promise.reject(new TypeError('cut'))).next(published())
  const publisher = publisherOfDraft()
  await act(() => publisher.current.publish())
  expect(publisher.current.state.phase).toBe('unknown')
  expect(replace).not.toHaveBeenCalled()
  await act(() => publisher.current.publish())
  expect(publisher.current.state.phase).toBe('published')
  expect(keys()[1]).toBe(keys()[0])
  expect(puts()[1]?.body).toEqual(puts()[0]?.body)
})

it('After a log-in in the middle, the request is repeated with the same key.', async () => {
  server
    .next(reply(null, { status: 401 }))
    .next(reply(logInReply()))
    .next(published())
  const publisher = publisherOfDraft()
  let publishing = Promise.resolve()
  act(() => {
    publishing = publisher.current.publish()
  })
  await waitFor(() => expect(session.state().isLogInNeeded).toBe(true))
  await act(async () => {
    await session.logIn('ada@acme.example', 'a password for the tests')
    await publishing
  })
  expect(keys()).toHaveLength(2)
  expect(keys()[1]).toBe(keys()[0])
  expect(publisher.current.state.phase).toBe('published')
})

it('A refusal keeps the draft and names its fields.', async () => {
  const issues = [{ path: 'targeting_rules.0.variation_id', message: 'does not exist' }]
  server.next(reply({ issues }, { status: 400 }))
  const publisher = publisherOfDraft()
  await act(() => publisher.current.publish())
  expect(publisher.current.state).toMatchObject({
    phase: 'reviewing',
    refusal: { issues: [{ path: 'targetingRules.0.variationId', message: 'does not exist' }] },
  })
  expect(replace).not.toHaveBeenCalled()
})

it('A newer configuration is a conflict, and nothing is replaced.', async () => {
  const stale = { configuration, version: 41, changed_by: 'Ada' }
  server.next(reply(stale, { status: 409 }))
  const publisher = publisherOfDraft()
  await act(() => publisher.current.publish())
  expect(publisher.current.state.phase).toBe('conflict')
  expect(listener.onConflict).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ version: 41, changedBy: 'Ada' }),
  )
  expect(replace).not.toHaveBeenCalled()
})
