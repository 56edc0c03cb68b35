import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { type FlagError, isFlagError } from '@ff/core'
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { startListening } from '../../test/postgres-store.ts'
import { openRedisProxy } from '../../test/redis-proxy.ts'
import {
  newRedisOptions,
  openRedis,
  openRedisClient,
  receiveFrom,
  startRedis,
} from '../../test/redis-store.ts'
import { newId } from '../contract/samples/sample-fields.ts'
import { sample } from '../contract/samples/samples.ts'
import { type RedisOptions, redis } from './redis.ts'

const PASSWORD = 'a secret/password'
const ENCODED = encodeURIComponent(PASSWORD)
const MINUTE_MS = 60_000

const window = { limit: 10, startedAt: Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS }
const lease = ({ rateLimiter }: ReturnType<typeof redis>, amount = 1) => {
  return rateLimiter.lease('key', { ...window, lengthMs: MINUTE_MS }, amount)
}

/** Returns the code and the message of the error, and asserts that no text contains the password. */
async function failureOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => new Error('The call has succeeded.'),
    (thrown: unknown) => thrown,
  )
  if (!isFlagError(error)) throw error
  assertWithoutPassword(error)
  return `${error.code}: ${error.message}`
}

function assertWithoutPassword(error: unknown): void {
  for (let part: unknown = error; part instanceof Error; part = part.cause) {
    const text = `${part.message} ${JSON.stringify(Object.entries(part))}`
    for (const secret of [PASSWORD, ENCODED]) expect(text).not.toContain(secret)
  }
}

/** Keeps the reported statuses: the messages, and `undefined` for "available". */
function observed() {
  const statuses: (string | undefined)[] = []
  const onStatus = (unavailable: FlagError | undefined) => {
    assertWithoutPassword(unavailable)
    statuses.push(unavailable?.message)
  }
  return { statuses, onStatus }
}

/** Returns `true` if a call ends in the turn of the event loop in which it began. */
function endsAtOnce(work: Promise<unknown>): Promise<boolean> {
  const isOver = () => true
  const nextTurn = new Promise<boolean>((resolve) => setImmediate(resolve, false))
  return Promise.race([work.then(isOver, isOver), nextTurn])
}

/** Counts the calls of 20 that have failed after each of several durations on a fake clock. */
async function failuresAfter(durations: readonly number[], call: () => Promise<unknown>) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  let failed = 0
  for (let n = 0; n < 20; n += 1) void call().catch(() => (failed += 1))
  const counts: number[] = []
  for (const ms of durations) {
    await vi.advanceTimersByTimeAsync(ms)
    counts.push(failed)
  }
  vi.useRealTimers()
  return counts
}

describe('the options of redis', () => {
  it('An option of redis that is invalid is refused with its name and without the password', async () => {
    const invalid: readonly (readonly [object, string])[] = [
      [{}, 'url'],
      [{ url: `localhost:${ENCODED}` }, 'url'],
      [{ url: `http://ff:${ENCODED}@localhost` }, 'url'],
      [{ url: `redis://ff:${ENCODED}@localhost:port` }, 'url'],
      [{ url: `redis://ff:${PASSWORD}@localhost` }, 'url'],
      [{ url: `redis://ff:${ENCODED}%zz@localhost` }, 'url'],
      [{ url: `redis://ff:${ENCODED}@localhost/name` }, 'url'],
      [{ url: `redis://ff:${ENCODED}@localhost/0#1` }, 'url'],
      [{ url: 'redis://localhost', prefix: 'a{b}' }, 'prefix'],
    ]
    for (const [options, name] of invalid) {
      const creation = async () => redis(options as RedisOptions)
      expect(await failureOf(creation())).toContain(`INVALID_REQUEST: \`${name}\` must `)
    }
  })
})

describe('a Redis server that cannot be used', () => {
  it('Redis that is not listening makes leases fail, and is reported once', async () => {
    const { statuses, onStatus } = observed()
    const ports = openRedis({ url: `redis://:${ENCODED}@127.0.0.1:1`, onStatus })
    const message = '`url`: Redis at 127.0.0.1:1 cannot be reached (ECONNREFUSED).'
    await ports.changeFeed.subscribe(() => undefined)
    expect(await failureOf(lease(ports))).toBe(`UNAVAILABLE: ${message}`)
    await ports.changeFeed.publish({ type: 'sdkKeys' })
    expect(await failureOf(lease(ports))).toBe(`UNAVAILABLE: ${message}`)
    expect(statuses).toEqual([message])
  })

  it('Redis that accepts connections and does not respond delays no subscription, and no call after the first ones', async () => {
    const port = await startListening(createServer(() => undefined))
    const { statuses, onStatus } = observed()
    const ports = openRedis({ url: `redis://:${ENCODED}@127.0.0.1:${port}`, onStatus })
    await ports.changeFeed.subscribe(() => undefined)
    expect(statuses).toEqual([])
    await lease(ports).catch(() => undefined)
    expect(statuses).toHaveLength(1)
    expect(await endsAtOnce(lease(ports))).toBe(true)
    expect(await failureOf(lease(ports))).toContain('cannot be reached (no response).')
  })

  it('A closed connection makes calls fail with UNAVAILABLE', async () => {
    const ports = redis({ url: 'redis://127.0.0.1:1' })
    await ports.close()
    await ports.close()
    expect(await failureOf(lease(ports))).toContain(
      'UNAVAILABLE: The connection to Redis is closed',
    )
    await ports.changeFeed.subscribe(() => undefined)
  })
})

describe.skipIf(!inject('hasRedisServer'))('a Redis server of its own', () => {
  it('A wrong password, a missing password and an unknown database of Redis are named as such', async () => {
    const { port } = await startRedis(['--requirepass', 'right'])
    const messageFor = (part: string) =>
      failureOf(lease(openRedis({ url: `redis://${part.replace('HOST', `127.0.0.1:${port}`)}` })))
    const refused = `UNAVAILABLE: \`url\`: Redis at 127.0.0.1:${port} refuses the user or the password.`
    expect(await messageFor(`:${ENCODED}@HOST`)).toBe(refused)
    expect(await messageFor(`someone:${ENCODED}@HOST`)).toBe(refused)
    expect(await messageFor('HOST')).toBe(refused)
    expect(await messageFor(':right@HOST/999')).toContain('has no such database.')
    expect(await lease(openRedis({ url: `redis://:right@127.0.0.1:${port}/15` }))).toBe(1)
  })

  it('A password of Redis that is changed makes calls fail, and is reported once', async () => {
    const { port, url } = await startRedis(['--requirepass', 'first'])
    const { statuses, onStatus } = observed()
    const ports = openRedis({ url: `redis://:first@127.0.0.1:${port}`, onStatus })
    expect(await lease(ports)).toBe(1)
    const admin = openRedisClient(url, 'first')
    await admin.config('SET', 'requirepass', PASSWORD)
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await expect.poll(() => statuses.length).toBe(1)
    const refused = async () => failureOf(lease(ports))
    await expect.poll(refused).toContain('refuses the user or the password.')
    await admin.config('SET', 'requirepass', 'first')
    await expect.poll(() => statuses.at(-1)).toBeUndefined()
    expect(await lease(ports)).toBe(1)
    expect(statuses).toHaveLength(2)
  })

  it('A Redis server that is a replica is named as such', async () => {
    const { port } = await startRedis()
    const replica = await startRedis(['--replicaof', `127.0.0.1 ${port}`])
    const { statuses, onStatus } = observed()
    const ports = openRedis({ url: replica.url, onStatus })
    const message = `\`url\`: Redis at 127.0.0.1:${replica.port} is a replica, which refuses writes.`
    expect(await failureOf(lease(ports))).toBe(`UNAVAILABLE: ${message}`)
    expect(statuses).toEqual([message])
  })

  it.each([
    [['+@all', '-set', '~*', '&*'], 'set'],
    [['+@all', '-select', '~*', '&*'], 'select'],
    [['+@all', '~other:*', '&*'], 'keys'],
    [['+@all', '~ff:*', '&other:*'], 'channels'],
  ])(
    'A user of Redis with the permissions %j is told what is missing: %s',
    async (rules, missing) => {
      const { port } = await startRedis(['--user', 'reader', 'on', '>right', ...rules])
      const { statuses, onStatus } = observed()
      const ports = openRedis({
        url: `redis://reader:right@127.0.0.1:${port}/1?family=4`,
        onStatus,
      })
      await ports.changeFeed.subscribe(() => undefined)
      await lease(ports).catch(() => undefined)
      const line = `\`url\`: The user has no permission for the necessary commands of Redis at 127.0.0.1:${port} (${missing}).`
      await expect.poll(() => statuses).toEqual([line])
    },
  )

  it('The documented permissions are sufficient', async () => {
    const page = readFileSync(new URL('../../../../docs/operations.md', import.meta.url), 'utf8')
    const [, rules = ''] = /ACL SETUSER ff on >password (.*)/.exec(page) ?? []
    const { port } = await startRedis(['--user', 'ff', 'on', '>password', ...rules.split(' ')])
    const { statuses, onStatus } = observed()
    const ports = openRedis({ url: `redis://ff:password@127.0.0.1:${port}/1`, onStatus })
    const received: unknown[] = []
    await ports.changeFeed.subscribe((change) => received.push(change))
    await ports.changeFeed.publish({ type: 'sdkKeys' })
    await expect.poll(() => received).toContainEqual({ type: 'sdkKeys' })
    expect(await lease(ports)).toBe(1)
    const entry = sample('auditEvent')
    await ports.recentEvents.fill('changes:1', [entry])
    expect(await ports.recentEvents.find('changes:1', entry.hash)).toEqual([entry])
    await ports.recentEvents.add('changes:1', { ...entry, id: newId(), previousHash: entry.hash })
    expect(statuses).toEqual([])
  })

  it('Redis that is started later or again is used, and listeners receive `resync`', async () => {
    const server = await startRedis()
    await server.stop()
    const { statuses, onStatus } = observed()
    const ports = openRedis({ url: server.url, onStatus })
    const received: unknown[] = []
    await ports.changeFeed.subscribe((change) => received.push(change))
    await ports.changeFeed.publish({ type: 'sdkKeys' })
    for (let start = 1; start <= 2; start += 1) {
      await server.restart()
      const resyncs = Array.from({ length: start }, () => ({ type: 'resync' }))
      await expect.poll(() => received).toEqual(resyncs)
      await expect.poll(() => lease(ports, 3).catch(() => 0)).toBe(3)
      expect(await lease(ports, 10)).toBe(7)
      await expect.poll(() => statuses.at(-1)).toBeUndefined()
      await server.stop()
      await expect.poll(() => statuses.length).toBe(2 * start + 1)
    }
  })

  it('Connections that receive no response any more are replaced, and listeners receive `resync`', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const server = await startRedis()
    const proxy = await openRedisProxy(server)
    const { statuses, onStatus } = observed()
    const ports = openRedis({ url: proxy.url, onStatus })
    const received = await receiveFrom(ports.changeFeed)
    expect(await lease(ports)).toBe(1)
    expect(proxy.connections()).toBe(2)
    proxy.silence()
    expect(await failureOf(lease(ports))).toContain('cannot be reached (no response).')
    // The connection of the change feed is checked every five seconds.
    vi.advanceTimersByTime(5000)
    await expect.poll(() => lease(ports).catch(() => 0)).toBe(1)
    await expect.poll(() => received).toEqual([{ type: 'resync' }])
    expect(statuses.at(-1)).toBeUndefined()
    expect(proxy.connections()).toBe(4)
  })

  it('A suspended Redis delays only the first calls, and listeners receive `resync` afterwards', async () => {
    const server = await startRedis()
    const proxy = await openRedisProxy(server)
    const { statuses, onStatus } = observed()
    const [ports, other] = [openRedis({ url: proxy.url, onStatus }), openRedis({ url: server.url })]
    const received = await receiveFrom(ports.changeFeed)
    expect([await lease(ports), await lease(other)]).toEqual([1, 1])
    server.suspend()
    expect(await failuresAfter([249, 1], () => lease(other))).toEqual([0, 20])
    await other.close()
    const connections = proxy.connections()
    await Promise.all(Array.from({ length: 20 }, () => failureOf(lease(ports))))
    for (let n = 0; n < 100; n += 1) {
      expect(await endsAtOnce(lease(ports))).toBe(true)
      await ports.changeFeed.publish({ type: 'sdkKeys' })
    }
    await expect.poll(() => statuses.length).toBe(1)
    await expect.poll(proxy.connections).toBeGreaterThan(connections)
    server.resume()
    await expect.poll(() => statuses.at(-1)).toBeUndefined()
    await ports.changeFeed.publish({ type: 'sdkKeys' })
    await expect.poll(() => received).toContainEqual({ type: 'sdkKeys' })
    expect(statuses).toHaveLength(2)
  })
})

describe.skipIf(inject('redisUrl') === '')('the Redis of the test run', () => {
  it('The rate limiter of Redis works after all data and scripts were removed', async () => {
    const options = newRedisOptions()
    const [ports, admin] = [openRedis(options), openRedisClient()]
    expect(await lease(ports, 10)).toBe(10)
    await admin.script('FLUSH')
    await admin.del(...(await admin.keys(`${options.prefix}:*`)))
    expect(await lease(ports, 10)).toBe(10)
  })

  it('All keys in Redis have a hash tag and expire', async () => {
    const options = newRedisOptions()
    const [ports, admin] = [openRedis(options), openRedisClient()]
    await lease(ports)
    const entry = sample('auditEvent', { previousHash: '' })
    await ports.recentEvents.add('changes:1', entry)
    await ports.recentEvents.fill('changes:2', [entry])
    const keys = await admin.keys(`${options.prefix}:*`)
    expect(keys.length).toBeGreaterThanOrEqual(3)
    for (const key of keys) {
      expect(key).toMatch(/\{.+\}/)
      const ms = await admin.pttl(key)
      expect(ms).toBeGreaterThan(0)
      expect(ms).toBeLessThanOrEqual(key.includes(':audit:') ? 60 * MINUTE_MS : 2 * MINUTE_MS)
    }
  })

  it('Changes arrive at other instances with the same Redis and prefix, and only there', async () => {
    const options = newRedisOptions()
    const [first, second] = [openRedis(options), openRedis(options)]
    const database = {
      ...options,
      url: Object.assign(new URL(options.url), { pathname: '/9' }).href,
    }
    const others = [openRedis(newRedisOptions()), openRedis(database)]
    const received = await receiveFrom(second.changeFeed)
    const elsewhere = await Promise.all(others.map(({ changeFeed }) => receiveFrom(changeFeed)))
    const changes = Array.from({ length: 300 }, (_, version) => {
      return { type: 'flagSet', environmentId: newId(), version } as const
    })
    await Promise.all(changes.map((change) => first.changeFeed.publish(change)))
    await expect.poll(() => received).toEqual(changes)
    expect(elsewhere).toEqual([[], []])
  })

  it('A message of another program is a `resync`', async () => {
    const options = newRedisOptions()
    const [{ changeFeed }, admin] = [openRedis(options), openRedisClient()]
    const received = await receiveFrom(changeFeed)
    for (const text of ['no JSON', '7', 'null']) {
      expect(await admin.publish(`${options.prefix}:${admin.options.db}:change`, text)).toBe(1)
    }
    const resync = { type: 'resync' }
    await expect.poll(() => received).toEqual([resync, resync, resync])
  })
})
