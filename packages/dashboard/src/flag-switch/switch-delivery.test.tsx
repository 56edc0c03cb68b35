import { QueryClientProvider } from '@tanstack/react-query'
import { cleanup, render } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { PROJECT, reply } from '../../test/fake-server.ts'
import { messages } from '../messages/messages.ts'
import { createQueryClient } from '../queries/query-client.ts'
import { Session } from '../session/session.ts'
import { SessionContext } from '../session/use-session.ts'
import { SwitchDelivery } from './switch-delivery.tsx'

const ENVIRONMENT = { id: '33333333-3333-4333-8333-333333333333', projectId: PROJECT }
const texts = messages.flagSwitch
const SENT = texts.sent(100, 100)

/** The versions of two instances with 50 clients each. */
let versions: [number, number]
let newest: number
let queryClient: ReturnType<typeof createQueryClient>

function convergence() {
  const counts = { ws: 50, poll: 0, behind: 0 }
  return {
    version: newest,
    published_at: null,
    serving: null,
    clients: counts,
    instances: versions.map((version, index) => {
      const seen = { seen_at: '2030-01-01T00:00:00.000Z', version }
      return { instance_id: `${index}${ENVIRONMENT.id.slice(1)}`, ...seen, ...counts }
    }),
    total: { ws: 100, poll: 0, behind: 0, applied: null },
    by_version: [],
    reached: null,
  }
}

beforeEach(() => {
  queryClient = createQueryClient()
  vi.stubGlobal('fetch', async () => reply(convergence()))
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

function show() {
  return render(
    <SessionContext value={new Session('')}>
      <QueryClientProvider client={queryClient}>
        <SwitchDelivery environment={ENVIRONMENT} />
      </QueryClientProvider>
    </SessionContext>,
  )
}

it('While an instance has not begun with the newest version, its clients are not reported as reached.', async () => {
  newest = 2
  versions = [2, 1]
  const { container } = show()
  await expect.poll(() => queryClient.getQueryCache().getAll()[0]?.state.data).toBeDefined()
  expect(container.textContent).toBe('')
  versions = [2, 2]
  await expect.poll(() => container.textContent).toBe(SENT)
})

it('The clients of an earlier version are not reported for the next switch.', async () => {
  newest = 1
  versions = [1, 1]
  const first = show()
  await expect.poll(() => first.container.textContent).toBe(SENT)
  first.unmount()
  newest = 2
  const second = show()
  expect(second.container.textContent).toBe('')
  versions = [2, 2]
  await expect.poll(() => second.container.textContent).toBe(SENT)
})
