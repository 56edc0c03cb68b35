import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { memory, type Storage } from '@ff/storage'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Reply } from '../../../server/src/http/exchange.ts'
import { createFetch } from '../../../server/src/http/fetch.ts'
import { toNodeHandler } from '../../../server/src/node/http.ts'
import { systemClock } from '../../../server/src/runtime/clock.ts'
import { silentLogger } from '../../../server/src/runtime/logger.ts'
import { until } from '../../../server/test/fake-clock.ts'
import { type Listening, listen } from '../../../server/test/node/listening.ts'
import { LoginAudit } from '../../src/authentication/login-audit.ts'
import { createManagedServer } from '../world/managed-server.ts'

const PIECE = 'x'.repeat(16 * 1024)
const PIECES = 2000
/** Sockets hold back a few megabytes of what is sent; nothing should hold back more. */
const HELD_BACK = 800

/** A body of many pieces that tells how many were asked for and whether it was left. */
function body({ failAt = Number.POSITIVE_INFINITY } = {}) {
  const seen = { asked: 0, ended: false }
  async function* pieces() {
    try {
      for (; seen.asked < PIECES; seen.asked += 1) {
        if (seen.asked === failAt) throw new Error('the store is away')
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

describe('a body in pieces, under node:http', () => {
  it('arrives whole, and ends properly', async () => {
    const { reply, seen } = body()
    const response = await fetch(await serve(reply))
    expect((await response.text()).length).toBe(PIECES * PIECE.length)
    expect(seen).toEqual({ asked: PIECES, ended: true })
  })

  it('is asked for no faster than the caller reads', async () => {
    const { reply, seen } = body()
    const response = await open(await serve(reply))
    response.pause()
    await until(() => seen.asked > 0)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(seen.asked).toBeLessThan(HELD_BACK)
    expect((await text(response)).length).toBe(PIECES * PIECE.length)
  })

  it('is asked for no more when the caller has gone', async () => {
    const { reply, seen } = body()
    const response = await open(await serve(reply))
    response.destroy()
    await until(() => seen.ended)
    expect(seen.asked).toBeLessThan(HELD_BACK)
  })

  it('is left, and the connection cut, when the caller takes nothing for a minute', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const { reply, seen } = body()
    const response = await open(await serve(reply))
    response.pause()
    let last = -1
    await until(() => {
      const isStill = seen.asked === last
      last = seen.asked
      return isStill && last > 100
    })
    vi.advanceTimersByTime(60_000)
    await until(() => seen.ended)
    await expect(text(response)).rejects.toThrow()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is not cut while the caller goes on taking it', async () => {
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

  it('is left when the caller has gone before the reply', async () => {
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
    const gone = new Promise<void>((resolve) => {
      const handler = toNodeHandler({ basePath: '', handle: () => answered })
      void listen((request, response) => {
        response.on('close', resolve)
        handler(request, response)
      }).then((one) => {
        listening = one
        const request = get(one.url).on('error', () => undefined)
        setTimeout(() => request.destroy(), 50)
      })
    })
    await gone
    answer(reply)
    await until(() => isLeft)
  })

  it('that fails on the way does not look complete', async () => {
    const { reply, seen } = body({ failAt: 10 })
    const response = await fetch(await serve(reply))
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
    expect(seen.ended).toBe(true)
  })
})

describe('a body in pieces, through fetch', () => {
  const answer = (reply: Reply) =>
    createFetch('', async () => reply)(new Request('http://flags.test/'))

  it('arrives whole', async () => {
    const { reply, seen } = body()
    const response = await answer(reply)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(seen.asked).toBeLessThan(10)
    expect((await response.text()).length).toBe(PIECES * PIECE.length)
  })

  it('is asked for no more when it is cancelled', async () => {
    const { reply, seen } = body()
    const response = await answer(reply)
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    expect(seen.ended).toBe(true)
    expect(seen.asked).toBeLessThan(10)
  })

  it('that fails on the way does not look complete', async () => {
    const { reply } = body({ failAt: 3 })
    await expect((await answer(reply)).text()).rejects.toThrow('the store is away')
  })
})

describe('GET /audit/export over a socket', () => {
  const LOGINS = 1200
  const token = 'a-token-of-the-platform'
  const headers = { authorization: `Bearer ${token}` }
  let storage: Storage
  /** How many lists of entries the store answers before it fails. */
  let pagesLeft: number
  const errors: string[] = []

  beforeEach(async () => {
    storage = memory().storage
    pagesLeft = Number.POSITIVE_INFINITY
    errors.length = 0
    const list: Storage['list'] = async (kind, query) => {
      if (kind === 'auditEvent') pagesLeft -= 1
      if (pagesLeft < 0) throw new Error('the store is away')
      return answer(kind, query)
    }
    const answer = storage.list.bind(storage)
    storage.list = list
    const logger = { ...silentLogger, error: (message: string) => void errors.push(message) }
    const flags = createManagedServer({ storage, logger })
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
    const nobody = { id: '', email: '', name: '', role: '' }
    await Promise.all(
      Array.from({ length: LOGINS }, () =>
        logins.record({ type: 'user.login_failed', fields, actor: nobody, orgId: '' }),
      ),
    )
    listening = await listen(toNodeHandler(flags))
  })

  it('sends all lines, reading one page of them after another', async () => {
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

  it('is cut, and logged, when the store fails half-way', async () => {
    pagesLeft = 2
    const response = await fetch(`${listening?.url}/audit/export`, { headers })
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
    expect(errors).toContain('a response failed while it was being sent')
  })
})
