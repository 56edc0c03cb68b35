import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeServer, PROJECT, reply } from '../../test/fake-server.ts'
import { Session } from '../session/session.ts'
import { VersionPoll } from './version-poll.ts'

const onChange = vi.fn()
const onUnchanged = vi.fn()
let server: FakeServer
let poll: VersionPoll | undefined

const idOf = (index: number) => `33333333-3333-4333-8333-${String(index).padStart(12, '0')}`
const versionReply = (version: number) =>
  reply({
    data: [
      {
        version,
        published_at: '2026-01-01T00:00:00.000Z',
        ...{ event_id: null, event_type: null, actor: null, flags: [], segments: [] },
      },
    ],
    meta: { total: 1, page: 1, pageCount: 1 },
  })

function start(count = 1): VersionPoll {
  const ids = Array.from({ length: count }, (_, index) => idOf(index))
  const { api } = new Session('')
  const listeners = { onChange, onUnchanged }
  poll = new VersionPoll({ api, projectId: PROJECT, environmentIds: () => ids, ...listeners })
  poll.start()
  return poll
}

function setVisibility(state: 'visible' | 'hidden'): void {
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue(state)
  document.dispatchEvent(new Event('visibilitychange'))
}

beforeEach(() => {
  vi.useFakeTimers()
  server = new FakeServer()
  onChange.mockClear()
  onUnchanged.mockClear()
})
afterEach(() => {
  poll?.stop()
  vi.useRealTimers()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

describe('VersionPoll', () => {
  it('A visible tab asks for the newest version every 5 seconds, and reports only a change.', async () => {
    for (const version of [7, 7, 8]) server.next(versionReply(version))
    start()
    await vi.advanceTimersByTimeAsync(5000)
    expect(server.requests[0]?.url).toContain('limit=1')
    expect(onChange).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(5000)
    expect(onChange).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(5000)
    expect(onChange).toHaveBeenCalledTimes(2)
    expect(server.requests).toHaveLength(3)
  })

  it('A poll without a new version is reported too, because a change of a name makes none.', async () => {
    for (const version of [7, 7]) server.next(versionReply(version))
    start()
    await vi.advanceTimersByTimeAsync(5000)
    expect(onUnchanged).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(5000)
    expect(onUnchanged).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(5000)
    expect(onUnchanged).toHaveBeenCalledTimes(1)
  })

  it('A hidden tab asks once a minute, and at once when it becomes visible.', async () => {
    setVisibility('hidden')
    start()
    await vi.advanceTimersByTimeAsync(59_000)
    expect(server.requests).toHaveLength(0)
    setVisibility('visible')
    await vi.advanceTimersByTimeAsync(1)
    expect(server.requests).toHaveLength(1)
  })

  it('A project with 40 environments causes less than 120 requests a minute, and all are asked.', async () => {
    for (let index = 0; index < 200; index += 1) server.next(versionReply(1))
    start(40)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(server.requests.length).toBeLessThan(120)
    expect(new Set(server.requests.map(({ url }) => url)).size).toBe(40)
  })

  it('A server that cannot be reached is reported once, and once more when it can be reached.', async () => {
    start()
    await vi.advanceTimersByTimeAsync(20_000)
    expect(onChange).toHaveBeenCalledTimes(1)
    server.next(versionReply(1)).next(versionReply(1))
    await vi.advanceTimersByTimeAsync(10_000)
    expect(onChange).toHaveBeenCalledTimes(2)
  })

  it('After a refusal with 429, the next poll waits as the server says.', async () => {
    server.next(reply(null, { status: 429, headers: { 'Retry-After': '30' } }))
    start()
    await vi.advanceTimersByTimeAsync(34_000)
    expect(server.requests).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(2000)
    expect(server.requests).toHaveLength(2)
  })

  it('After a stop, nothing is asked.', async () => {
    start().stop()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(server.requests).toHaveLength(0)
  })
})
