import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeServer, PROJECT, type SentRequest } from '../../test/fake-server.ts'
import { Session } from '../session/session.ts'
import { affectedKeys } from './affected-keys.ts'
import { EventParser } from './event-parser.ts'
import { LiveConnection } from './live-connection.ts'

const ENV = '33333333-3333-4333-8333-333333333333'
const FLAG = '44444444-4444-4444-8444-444444444444'
const actor = { id: 'user-1', name: 'Ada' }
const version = { env_id: ENV, version: 2, event_type: 'flag.configured', actor, segments: [] }
const frame = `event: version\nid: p1\ndata: ${JSON.stringify({ ...version, flags: [FLAG] })}\n\n`

/** Returns a stream that begins with a text, and ends after a time or with its request. */
function streamOf(text: string, endMs?: number) {
  return ({ signal }: SentRequest): Response => {
    const body = new ReadableStream({
      start(controller) {
        if (text !== '') controller.enqueue(new TextEncoder().encode(text))
        if (endMs !== undefined) setTimeout(() => controller.close(), endMs)
        const fail = () => controller.error(new DOMException('aborted', 'AbortError'))
        signal?.addEventListener('abort', fail, { once: true })
      },
    })
    return new Response(body)
  }
}

describe('EventParser', () => {
  it('A frame that arrives in parts is returned once, when it is complete.', () => {
    const parser = new EventParser()
    expect(parser.add(': comment\n\neve')).toEqual([])
    expect(parser.add('nt: version\nid: 7\ndata: {}\n\nid: 8\n\n')).toEqual([
      { event: 'version', id: '7', data: '{}' },
      { event: '', id: '8', data: '' },
    ])
  })
})

describe('affectedKeys', () => {
  it('A version affects its flags, the list and the history of its environment, and no other.', () => {
    const data = {
      ...{ environmentId: ENV, version: 2, eventType: 'flag.configured', actor },
      ...{ flags: [FLAG], segments: [] },
    }
    const keys = affectedKeys(PROJECT, { event: 'version', id: 'p1', data })
    expect(keys).toContainEqual(['project', PROJECT, 'configuration', ENV, FLAG])
    expect(keys).toContainEqual(['project', PROJECT, 'flagSummaries'])
    expect(keys).not.toContainEqual(['project', PROJECT, 'segments'])
    expect(keys).not.toContainEqual(['project', PROJECT])
  })

  it('A change of a name in a configuration, which makes no version, affects configurations.', () => {
    const data = { eventType: 'flag.configured', id: FLAG, actor }
    const keys = affectedKeys(PROJECT, { event: 'project', id: 'p1', data })
    expect(keys).toContainEqual(['project', PROJECT, 'configuration'])
    expect(keys).toContainEqual(['project', PROJECT, 'flag'])
  })
})

describe('LiveConnection', () => {
  let server: FakeServer
  const calls = { onEvent: vi.fn(), onReload: vi.fn(), onStream: vi.fn() }

  beforeEach(() => {
    vi.useFakeTimers()
    server = new FakeServer()
    vi.clearAllMocks()
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  function connect(): LiveConnection {
    const { api } = new Session('')
    const connection = new LiveConnection({ api, projectId: PROJECT, ...calls })
    void connection.run()
    return connection
  }

  it('A stream that was cut continues after its last event.', async () => {
    server.next(new Response(frame)).next(new Response(': open\n\n'))
    const connection = connect()
    await vi.advanceTimersByTimeAsync(3000)
    connection.close()
    expect(calls.onEvent).toHaveBeenCalledOnce()
    expect(server.requests[1]?.headers.get('Last-Event-ID')).toBe('p1')
    expect(calls.onReload).not.toHaveBeenCalled()
  })

  it('After a stream without a position was cut, everything is loaded again.', async () => {
    server.next(new Response(': open\n\n')).next(new Response(': open\n\n'))
    const connection = connect()
    await vi.advanceTimersByTimeAsync(3000)
    connection.close()
    expect(calls.onReload).toHaveBeenCalled()
  })

  it('A stream that cannot be opened is tried less and less often.', async () => {
    const connection = connect()
    await vi.advanceTimersByTimeAsync(60_000)
    connection.close()
    expect(server.requests.length).toBeLessThan(10)
    expect(server.requests.length).toBeGreaterThan(3)
    expect(calls.onStream).toHaveBeenCalledWith(false)
    expect(calls.onStream).not.toHaveBeenCalledWith(true)
  })

  it('A stream that is cut every second is opened less and less often.', async () => {
    for (let index = 0; index < 100; index += 1) server.next(streamOf(': open\n\n', 1000))
    const connection = connect()
    await vi.advanceTimersByTimeAsync(60_000)
    connection.close()
    expect(server.requests.length).toBeLessThan(10)
    expect(server.requests.length).toBeGreaterThan(3)
  })

  it('A stream that is silent for 45 seconds is opened again after its last event.', async () => {
    server.next(streamOf(frame)).next(streamOf(': open\n\n'))
    const connection = connect()
    await vi.advanceTimersByTimeAsync(44_000)
    expect(server.requests).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(3000)
    connection.close()
    expect(server.requests).toHaveLength(2)
    expect(server.requests[1]?.headers.get('Last-Event-ID')).toBe('p1')
  })

  it('A stream that sends nothing at first is given up after 10 seconds.', async () => {
    server.next(streamOf(''))
    const connection = connect()
    await vi.advanceTimersByTimeAsync(9000)
    expect(calls.onStream).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1500)
    connection.close()
    expect(calls.onStream).toHaveBeenCalledWith(false)
  })

  it('The event `reload` loads everything again.', async () => {
    server.next(new Response('event: reload\nid: p2\ndata: {}\n\n'))
    const connection = connect()
    await vi.advanceTimersByTimeAsync(10)
    connection.close()
    expect(calls.onReload).toHaveBeenCalledOnce()
    expect(calls.onEvent).not.toHaveBeenCalled()
  })

  it('A closed connection opens no stream.', async () => {
    connect().close()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(server.requests).toHaveLength(1)
    expect(calls.onStream).not.toHaveBeenCalledWith(true)
  })

  it('An event that the page does not know loads everything again.', async () => {
    server.next(new Response('event: other\nid: p2\ndata: {}\n\n'))
    const connection = connect()
    await vi.advanceTimersByTimeAsync(10)
    connection.close()
    expect(calls.onReload).toHaveBeenCalledOnce()
  })
})
