import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { type LogFields, silentLogger } from '@ff/server'
import { beforeEach, describe, expect, it } from 'vitest'
import { toNodeHandler } from '../../../server/src/node/http.ts'
import { call, evaluate } from '../../../server/test/call.ts'
import { allInMemory, losable } from '../../../server/test/capabilities.ts'
import { FakeClock, settle, until } from '../../../server/test/fake-clock.ts'
import { listen } from '../../../server/test/node/listening.ts'
import { TestSocket } from '../../../server/test/test-socket.ts'
import { createManagedServer, type ManagedServer } from '../world/managed-server.ts'
import { type MetricsShop, openMetricsShop } from '../world/metrics-shop.ts'
import { StreamReader } from './stream-reader.ts'

const SYSTEM = { id: 'test', email: '', name: 'Test', role: 'platform', orgId: null } as const
const ACTOR = { id: 'test', name: 'Test' }
const context = { kind: 'user', key: 'user-1' }

let shop: MetricsShop
/** Another instance with the same store and change feed. */
let other: ManagedServer
let otherClock: FakeClock
let lose: (isLosing: boolean) => void
let log: { readonly message: string; readonly fields: LogFields }[]

beforeEach(async () => {
  const parts = allInMemory()
  const feed = losable(parts.changeFeed)
  lose = feed.lose
  const shared = { ...parts, changeFeed: feed.changeFeed, managementRateLimit: 1_000_000 }
  log = []
  const info = (message: string, fields: LogFields = {}) => void log.push({ message, fields })
  shop = await openMetricsShop({ ...shared, logger: { ...silentLogger, info } })
  otherClock = new FakeClock()
  const storage = { ...parts.storage, close: async () => undefined }
  other = createManagedServer({ ...shared, storage, clock: otherClock })
  await other.start()
  return async () => {
    await other.close()
    await shop.flags.close()
  }
})

const clockOf = ({ flags }: MetricsShop) => flags.clock as FakeClock
const advance = (ms: number) => clockOf(shop).advance(ms)

const openStream = (lastEventId?: string, server: ManagedServer = shop.flags) =>
  StreamReader.open(server, shop.mine.projectId, {
    token: shop.mine.tokens.viewer,
    ...(lastEventId !== undefined && { headers: { 'last-event-id': lastEventId } }),
  })

/** Changes the name of the flag, which makes no version. */
async function rename(name: string): Promise<void> {
  const { projectId, flag } = shop.mine
  const params = { projectId, flagId: flag.id }
  await shop.flags.as(SYSTEM).updateFlag({ params, body: { name } })
}

/** Switches the flag in an environment, which makes a version. */
async function switchTo(isActive: boolean, environmentId = shop.mine.live): Promise<void> {
  const { projectId, flag } = shop.mine
  const params = { projectId, environmentId, flagId: flag.id }
  await shop.flags.as(SYSTEM).updateFlagState({ params, body: { isActive } })
}

describe('GET /projects/{projectId}/events', () => {
  it('A stream sends each version with its cause, author and changed records', async () => {
    const reader = await openStream()
    await switchTo(false)
    await settle()
    expect(reader.of('version')).toEqual([
      {
        event: 'version',
        id: expect.stringMatching(new RegExp(`^${shop.mine.projectId}:\\d+$`)),
        data: {
          env_id: shop.mine.live,
          version: 2,
          event_type: 'flag_state.updated',
          actor: ACTOR,
          flags: [shop.mine.flag.id],
          segments: [],
        },
      },
    ])
    await reader.leave()
  })

  it('A stream sends the changes of records that make no version', async () => {
    const reader = await openStream()
    await rename('Theme')
    await settle()
    expect(reader.events).toEqual([
      {
        event: 'project',
        id: expect.any(String),
        data: { event_type: 'flag.updated', id: shop.mine.flag.id, actor: ACTOR },
      },
    ])
    await reader.leave()
  })

  it('Of the versions of one change in several environments, only the last one has an id', async () => {
    const reader = await openStream()
    const { projectId } = shop.mine
    const variations = ['a', 'b'].map((key) => ({ key, value: key }))
    const body = { key: 'both', type: 'string' as const, variations }
    await shop.flags.as(SYSTEM).createFlag({ params: { projectId }, body })
    await settle()
    const versions = reader.of('version')
    expect(versions.map(({ data }) => data.env_id).sort()).toEqual(
      [shop.mine.live, shop.mine.staging].sort(),
    )
    expect(versions.map(({ id }) => id === null)).toEqual([true, false])
    await reader.leave()
  })

  it('A stream sends nothing about other projects, also of the same organization', async () => {
    const reader = await openStream()
    const management = shop.flags.as(SYSTEM)
    const params = { orgId: shop.mine.orgId }
    await management.createProject({ params, body: { key: 'another' } })
    const { projectId, live: environmentId, flag } = shop.theirs
    const path = { projectId, environmentId, flagId: flag.id }
    await management.updateFlagState({ params: path, body: { isActive: false } })
    await advance(5000)
    expect(reader.events).toEqual([])
    await reader.leave()
  })

  it('The streams of all instances receive a change of any instance', async () => {
    const readers = [await openStream(), await openStream(undefined, other)]
    await switchTo(false)
    await settle()
    for (const reader of readers) expect(reader.of('version')).toHaveLength(1)
    for (const reader of readers) await reader.leave()
  })

  it('If the hint of a change is lost, the streams receive the change within five seconds', async () => {
    const reader = await openStream(undefined, other)
    lose(true)
    await rename('Lost')
    await settle()
    expect(reader.events).toEqual([])
    await otherClock.advance(5000)
    expect(reader.of('project')).toHaveLength(1)
    await reader.leave()
  })

  it('The response permits neither caching nor buffering', async () => {
    const reader = await openStream()
    expect(reader.response.status).toBe(200)
    const headers = Object.fromEntries(reader.response.headers)
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    })
    expect(headers['content-encoding']).toBeUndefined()
    await reader.leave()
  })
})

describe('event: convergence', () => {
  const openSocket = async (sdkKey: string) => {
    const socket = new TestSocket()
    const connection = shop.flags.acceptSocket(socket)
    connection.receive(JSON.stringify({ type: 'init', sdkKey, context }))
    await settle()
    return socket
  }

  it('A stream reports the delivery of a version once it has reached all clients', async () => {
    await evaluate(shop.flags, shop.mine.clientKey, context)
    await openSocket(shop.mine.clientKey)
    const reader = await openStream()
    await switchTo(false)
    await advance(1000)
    const reported = reader.of('convergence')
    expect(reported.at(-1)).toEqual({
      event: 'convergence',
      id: null,
      data: {
        env_id: shop.mine.live,
        version: 2,
        total: { ws: 1, poll: 0, behind: 0, applied: null },
      },
    })
    await advance(10_000)
    expect(reader.of('convergence')).toEqual(reported)
    await reader.leave()
  })

  it('While clients are behind, the progress is sent at most once a second', async () => {
    const socket = await openSocket(shop.mine.clientKey)
    socket.bufferedAmount = 1_000_000
    const reader = await openStream()
    const { projectId, live: environmentId, flag } = shop.mine
    const params = { projectId, environmentId, flagId: flag.id }
    const body = { name: 'all', conditions: [], variationId: flag.variations[1]?.id ?? '' }
    await shop.flags.as(SYSTEM).createTargetingRule({ params, body })
    await advance(4500)
    const behind = () => reader.of('convergence').map(({ data }) => data.total.behind)
    expect(behind()).toEqual([1, 1, 1, 1, 1])
    socket.drain()
    await advance(1000)
    expect(behind()).toEqual([1, 1, 1, 1, 1, 0])
    await reader.leave()
  })
})

describe('Last-Event-ID', () => {
  it('Of 1,000 changes, a reader whose stream is cut at 20 random moments receives each one, in order', async () => {
    const names = Array.from({ length: 1000 }, (_, n) => `name ${n}`)
    const cuts = new Set(
      Array.from({ length: 20 }, () => `name ${Math.trunc(Math.random() * 1000)}`),
    )
    let reader = await openStream()
    const received: string[] = []
    const take = () => {
      for (const { event, data } of reader.events.splice(0)) {
        expect(event).not.toBe('reload')
        if (event !== 'convergence') received.push(`${data.event_type} ${data.version ?? ''}`)
      }
    }
    const expected: string[] = []
    for (const [index, name] of names.entries()) {
      if (index % 3 === 0) {
        await switchTo(index % 2 === 1)
        expected.push(`flag_state.updated ${await newestVersion()}`)
      } else {
        await rename(name)
        expected.push('flag.updated ')
      }
      if (!cuts.has(name)) continue
      if (index % 2 === 0) await settle()
      const { lastId } = reader
      await reader.leave()
      take()
      reader = await openStream(lastId)
    }
    await settle()
    take()
    expect(received).toEqual(expected)
    await reader.leave()
  })

  const newestVersion = async () => {
    const { data } = await shop.storage.listVersions(shop.mine.live, { page: 1, limit: 1 })
    return data[0]?.version ?? 0
  }

  it('A position of the future, of another project, or of another form leads to a reload', async () => {
    const first = await openStream()
    await settle()
    const id = first.lastId ?? ''
    const [project = '', sequence = ''] = id.split(':')
    const wrong = [
      `${project}:${Number(sequence) + 1}`,
      `${shop.theirs.projectId}:${sequence}`,
      ...['', '17', `${project}:-1`, `${project}:1e3`, '__proto__', 'x'.repeat(1000)],
    ]
    for (const lastEventId of wrong) {
      const reader = await openStream(lastEventId)
      await settle()
      expect([lastEventId, reader.events]).toEqual([
        lastEventId,
        [{ event: 'reload', id, data: {} }],
      ])
      await reader.leave()
    }
    await first.leave()
  })

  it('A reader that has missed more than 1,000 changes receives a reload, and then new events', async () => {
    const first = await openStream()
    await settle()
    await first.leave()
    const [entry] = (
      await shop.storage.list('auditEvent', {
        where: { projectId: shop.mine.projectId },
        sort: { field: 'position', direction: 'desc' },
        limit: 1,
      })
    ).data
    const chain = `changes:${shop.mine.orgId}`
    const head = await shop.storage.find('auditHead', chain)
    if (entry === undefined || head === undefined) throw new Error('There is no audit entry.')
    for (let n = head.sequence + 1; n <= head.sequence + 1001; n += 1) {
      const number = String(n).padStart(12, '0')
      const position = `2030-01-01T00:00:00.000Z ${number}`
      await shop.storage.insert('auditEvent', {
        ...{ ...entry, position },
        ...{ id: `${chain}:${number}`, sequence: n },
      })
    }
    await shop.storage.update('auditHead', chain, { sequence: head.sequence + 1001 })
    const reader = await openStream(first.lastId)
    await settle()
    const id = `${shop.mine.projectId}:${head.sequence + 1001}`
    expect(reader.events).toEqual([{ event: 'reload', id, data: {} }])
    await reader.leave()
  })
})

describe('the life of a stream', () => {
  it('A comment is sent every 20 seconds', async () => {
    const reader = await openStream()
    await advance(19_999)
    expect(reader.comments).toBe(0)
    await advance(1)
    expect(reader.comments).toBe(1)
    await advance(40_000)
    expect(reader.comments).toBe(3)
    await reader.leave()
  })

  it('A stream ends within 30 seconds after its access token was deleted', async () => {
    const params = { orgId: shop.mine.orgId }
    const management = shop.flags.as(SYSTEM)
    const body = { name: 'short', role: 'viewer' as const }
    const { id: tokenId, token } = await management.createAccessToken({ params, body })
    const reader = await StreamReader.open(shop.flags, shop.mine.projectId, { token })
    await advance(60_000)
    expect(reader.hasEnded).toBe(false)
    await management.deleteAccessToken({ params: { ...params, tokenId } })
    await advance(30_000)
    expect(reader.hasEnded).toBe(true)
  })

  it('A stream ends within 30 seconds after its project was deleted', async () => {
    const reader = await openStream()
    const params = { projectId: shop.mine.projectId }
    await shop.flags.as(SYSTEM).deleteProject({ params })
    await advance(30_000)
    expect(reader.events.at(-1)).toMatchObject({ data: { event_type: 'project.deleted' } })
    expect(reader.hasEnded).toBe(true)
  })

  it('Streams end when the server closes, and it closes without delay', async () => {
    const reader = await openStream(undefined, other)
    await other.close()
    await settle()
    expect(reader.hasEnded).toBe(true)
    const late = await openStream(undefined, other)
    expect(late.response.status).toBe(503)
  })

  it('The log contains the request of a stream when it opens, and the end of the stream', async () => {
    const reader = await openStream()
    await advance(45_000)
    const of = () => log.filter(({ fields }) => fields['path'] === '/projects/{projectId}/events')
    expect(of().map(({ message }) => message)).toEqual(['Request handled'])
    await reader.leave()
    expect(of()[1]).toMatchObject({
      message: 'Event stream left by the client',
      fields: { status: 200, durationMs: 45_000, requestId: of()[0]?.fields['requestId'] },
    })
  })

  it('A stream over node:http arrives at once, and is released when the client disconnects', async () => {
    const { close, url } = await listen(toNodeHandler(shop.flags))
    const { projectId, tokens } = shop.mine
    const headers = { authorization: `Bearer ${tokens.viewer}` }
    // The first use of the token starts a timer.
    await (await openStream()).leave()
    const { timers } = clockOf(shop)
    for (let n = 0; n < 12; n += 1) {
      const request = get(`${url}/projects/${projectId}/events`, { headers })
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      expect(response.statusCode).toBe(200)
      expect(String((await once(response, 'data'))[0])).toMatch(/^id: /)
      response.destroy()
      await until(() => clockOf(shop).timers === timers)
    }
    await close()
  })

  it('HEAD opens no stream', async () => {
    const { tokens, projectId } = shop.mine
    const request = { token: tokens.viewer, method: 'HEAD' }
    for (let n = 0; n < 20; n += 1) {
      const { response } = await StreamReader.open(shop.flags, projectId, request)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toContain('text/event-stream')
      expect(await response.text().catch(() => '')).toBe('')
    }
  })
})

describe('the limits of streams', () => {
  it('A user can have 10 streams, and another one after a stream was closed', async () => {
    const readers: StreamReader[] = []
    for (let n = 0; n < 10; n += 1) readers.push(await openStream())
    const path = `/projects/${shop.mine.projectId}/events`
    const headers = { authorization: `Bearer ${shop.mine.tokens.viewer}` }
    const refused = await call(shop.flags, path, { method: 'GET', headers })
    expect(refused.status).toBe(429)
    expect(refused.body).toMatchObject({
      message: 'This user or access token has 10 open event streams; close one of them.',
    })
    expect(refused.headers.get('retry-after')).toBe('30')
    await readers[0]?.leave()
    readers.push(await openStream())
    expect(readers.at(-1)?.response.status).toBe(200)
    for (const reader of readers) await reader.leave()
    expect(await openStream()).toMatchObject({ response: { status: 200 } })
  })

  it('An instance has 500 streams, of which an organization has at most half, and the largest one gives way', async () => {
    const as = shop.flags.as(SYSTEM)
    const { id: orgId } = await as.createOrganization({ body: { name: 'Third' } })
    const third = await as.createProject({ params: { orgId }, body: { key: 'third' } })
    const timers = clockOf(shop).timers
    let actors = 0
    const open = async (projectId: string) => {
      actors += 1
      const actor = { ...SYSTEM, id: `user-${Math.trunc(actors / 10)}` }
      return (await shop.flags.as(actor).streamProjectEvents({ params: { projectId } }))[
        Symbol.asyncIterator
      ]()
    }
    const streams: AsyncIterator<unknown>[] = []
    const { mine, theirs } = shop
    for (let n = 0; n < 250; n += 1) streams.push(await open(mine.projectId))
    await expect(open(mine.projectId)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      message: 'This organization has 250 open event streams; close one of them.',
    })
    for (let n = 0; n < 250; n += 1) streams.push(await open(theirs.projectId))
    const [oldest, second] = streams
    const ended = async (stream: AsyncIterator<unknown> | undefined) => {
      const next = await Promise.race([stream?.next(), settle().then(() => undefined)])
      return next?.done === true
    }
    streams.push(await open(third.id))
    expect(await ended(oldest)).toBe(true)
    await expect(open(mine.projectId)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      message: 'This server has 500 open event streams; try again later.',
    })
    expect(await ended(second)).toBe(false)
    for (const stream of streams) await stream.return?.()
    expect(clockOf(shop).timers).toBe(timers)
    await (await open(mine.projectId)).return?.()
  })

  it('A stream whose reader does not read is ended after about a minute', async () => {
    const address = `http://flags.test/projects/${shop.mine.projectId}/events`
    const headers = { authorization: `Bearer ${shop.mine.tokens.viewer}` }
    const ask = () => shop.flags.fetch(new Request(address, { headers }))
    for (let n = 0; n < 10; n += 1) await ask()
    expect((await ask()).status).toBe(429)
    await advance(120_000)
    const again = await ask()
    expect(again.status).toBe(200)
    await again.body?.cancel()
  })
})
