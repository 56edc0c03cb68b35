import { once } from 'node:events'
import { type ClientRequest, get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { memory, type Storage } from '@ff/storage'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Reply } from '../../../server/src/http/exchange.ts'
import { createFetch } from '../../../server/src/http/fetch.ts'
import { toNodeHandler } from '../../../server/src/node/http.ts'
import { systemClock } from '../../../server/src/runtime/clock.ts'
import { silentLogger } from '../../../server/src/runtime/logger.ts'
import { settle, until } from '../../../server/test/fake-clock.ts'
import { type Listening, listen } from '../../../server/test/node/listening.ts'
import { LoginAudit } from '../../src/authentication/login-audit.ts'
import { createManagedServer, type ManagedServer } from '../world/managed-server.ts'

const PIECE = 'x'.repeat(16 * 1024)
const PIECES = 2000
/** The maximum number of chunks in buffers: only sockets can buffer, and only a few megabytes. */
const HELD_BACK = 800

/**
 * Creates a body of many chunks that records the number of requested chunks, and the end of the
 * body.
 */
function body({ failAt = Number.POSITIVE_INFINITY } = {}) {
  const seen = { requested: 0, ended: false }
  async function* pieces() {
    try {
      for (; seen.requested < PIECES; seen.requested += 1) {
        if (seen.requested === failAt) throw new Error('The store is unavailable.')
        yield PIECE
      }
    } finally {
      seen.ended = true
    }
  }
  return { seen, reply: { status: 200, headers: {}, body: pieces() } satisfies Reply }
}

let listening: Listening | undefined

afterEach(async () => {
  await listening?.close()
  listening = undefined
})

async function serve(reply: Reply): Promise<string> {
  listening = await listen(toNodeHandler({ basePath: '', handle: async () => reply }))
  return listening.url
}

async function open(url: string): Promise<IncomingMessage> {
  const [response] = (await once(get(url), 'response')) as [IncomingMessage]
  return response
}

/** Waits until chunks have been requested, and no more are requested. */
async function untilStill(seen: { readonly requested: number }): Promise<void> {
  let last = -1
  await until(() => {
    const isStill = seen.requested === last
    last = seen.requested
    return isStill && last > 100
  })
}

describe('a streamed body over node:http', () => {
  it('A streamed body is received completely over node:http', async () => {
    const { reply, seen } = body()
    const response = await fetch(await serve(reply))
    expect((await response.text()).length).toBe(PIECES * PIECE.length)
    expect(seen).toEqual({ requested: PIECES, ended: true })
  })

  it('Chunks are requested no faster than the client reads them', async () => {
    const { reply, seen } = body()
    const response = await open(await serve(reply))
    response.pause()
    await untilStill(seen)
    expect(seen.requested).toBeLessThan(HELD_BACK)
    expect((await text(response)).length).toBe(PIECES * PIECE.length)
  })

  it('No chunk is requested after the client has disconnected', async () => {
    const { reply, seen } = body()
    const response = await open(await serve(reply))
    response.destroy()
    await until(() => seen.ended)
    expect(seen.requested).toBeLessThan(HELD_BACK)
  })

  it('The connection is closed when the client reads nothing for a minute', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const { reply, seen } = body()
    const response = await open(await serve(reply))
    response.pause()
    await untilStill(seen)
    vi.advanceTimersByTime(60_000)
    await until(() => seen.ended)
    await expect(text(response)).rejects.toThrow()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('The connection stays open while the client continues to read', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const { reply } = body()
    const response = await open(await serve(reply))
    let length = 0
    let checks = 0
    response.on('data', (piece: Buffer) => {
      length += piece.length
      if (length < (checks + 1) * 8 * 1024 * 1024) return
      checks += 1
      vi.advanceTimersByTime(30_000)
    })
    await once(response, 'end')
    expect([length, checks]).toEqual([PIECES * PIECE.length, 3])
  })

  it('A streamed body is ended if the client has disconnected before the response', async () => {
    let isLeft = false
    const pieces = {
      next: async () => ({ done: true as const, value: undefined }),
      return: async () => {
        isLeft = true
        return { done: true as const, value: undefined }
      },
    }
    const reply: Reply = {
      status: 200,
      headers: {},
      body: { [Symbol.asyncIterator]: () => pieces },
    }
    let answer: (reply: Reply) => void = () => undefined
    const answered = new Promise<Reply>((resolve) => {
      answer = resolve
    })
    let sent: ClientRequest
    const gone = new Promise<void>((resolve) => {
      const handler = toNodeHandler({ basePath: '', handle: () => answered })
      void listen((request, response) => {
        response.on('close', resolve)
        handler(request, response)
        sent.destroy()
      }).then((one) => {
        listening = one
        sent = get(one.url).on('error', () => undefined)
      })
    })
    await gone
    answer(reply)
    await until(() => isLeft)
  })

  it('A streamed body that fails over node:http is not a complete response', async () => {
    const { reply, seen } = body({ failAt: 10 })
    const response = await fetch(await serve(reply))
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
    expect(seen.ended).toBe(true)
  })
})

describe('a streamed body through fetch', () => {
  const answer = (reply: Reply) =>
    createFetch('', async () => reply)(new Request('http://flags.test/'))

  it('A streamed body is received completely through fetch', async () => {
    const { reply, seen } = body()
    const response = await answer(reply)
    await settle()
    expect(seen.requested).toBeLessThan(10)
    expect((await response.text()).length).toBe(PIECES * PIECE.length)
  })

  it('No chunk is requested after the response through fetch is cancelled', async () => {
    const { reply, seen } = body()
    const response = await answer(reply)
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    expect(seen.ended).toBe(true)
    expect(seen.requested).toBeLessThan(10)
  })

  it('A streamed body that fails through fetch rejects the response', async () => {
    const { reply } = body({ failAt: 3 })
    await expect((await answer(reply)).text()).rejects.toThrow('The store is unavailable.')
  })
})

function pathIn(fields: Readonly<Record<string, unknown>>): string {
  return String(fields['path'])
}

describe('GET /audit/export over a socket', () => {
  const LOGINS = 1200
  const token = 'a-token-of-the-platform'
  const headers = { authorization: `Bearer ${token}` }
  let storage: Storage
  let flags: ManagedServer
  /** The number of pages of entries that the store returns before it fails. */
  let pagesLeft: number
  const errors: string[] = []
  const infos: string[] = []

  beforeEach(async () => {
    storage = memory().storage
    pagesLeft = Number.POSITIVE_INFINITY
    errors.length = infos.length = 0
    const list: Storage['list'] = async (kind, query) => {
      if (kind === 'auditEvent') pagesLeft -= 1
      if (pagesLeft < 0) throw new Error('The store is unavailable.')
      return answer(kind, query)
    }
    const answer = storage.list.bind(storage)
    storage.list = list
    const logger = {
      ...silentLogger,
      info: (message: string, fields = {}) => void infos.push(`${message} ${pathIn(fields)}`),
      error: (message: string) => void errors.push(message),
    }
    flags = createManagedServer({ storage, logger })
    await flags.start()
    const actor = {
      id: 'system',
      email: '',
      name: 'System',
      role: 'platform',
      orgId: null,
    } as const
    const management = flags.as(actor)
    await management.createAccessToken({
      params: { orgId: null },
      body: { name: 'Platform', role: 'platform' },
      token,
    })
    const logins = new LoginAudit({ storage, clock: systemClock, logger })
    const fields = { email: '', method: 'password', reason: 'unknown' } as const
    const unknown = { id: '', email: '', name: '', role: '' }
    await Promise.all(
      Array.from({ length: LOGINS }, () =>
        logins.record({ type: 'user.login_failed', fields, actor: unknown, orgId: '' }),
      ),
    )
    listening = await listen(toNodeHandler(flags))
  })

  it('An export of the audit log contains all entries', async () => {
    const response = await fetch(`${listening?.url}/audit/export`, { headers })
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('no-store')
    const lines = (await response.text()).trimEnd().split('\n')
    expect(lines.length).toBe(LOGINS + 1)
    expect(lines.map((line) => JSON.parse(line).sequence)).toEqual([
      1,
      ...Array.from({ length: LOGINS }, (_, index) => index + 1),
    ])
  })

  it('An export of the audit log is cut and logged if the store fails during it', async () => {
    pagesLeft = 2
    const response = await fetch(`${listening?.url}/audit/export`, { headers })
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
    expect(errors).toEqual(['A response failed while it was being sent'])
    expect(infos).toEqual([])
  })

  it('An export that the client aborts is logged once, and not as an error', async () => {
    const abort = new AbortController()
    const { signal } = abort
    const response = await fetch(`${listening?.url}/audit/export`, { headers, signal })
    expect(response.status).toBe(200)
    expect(infos).toEqual([])
    abort.abort()
    await until(() => infos.length > 0)
    await settle()
    expect(infos).toEqual(['Request aborted by the client /audit/export'])
    expect(errors).toEqual([])
  })

  it('An export that is cancelled through fetch is logged once, and not as an error', async () => {
    const response = await flags.fetch(new Request('http://flags.test/audit/export', { headers }))
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    expect(infos).toEqual(['Request aborted by the client /audit/export'])
    expect(errors).toEqual([])
  })
})
