import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { findDamage } from '../src/verify.ts'
import { RunningStandalone } from './running-standalone.ts'

const ADMIN_TOKEN = 'an-administrators-own-token'
const WORKERS = 2
/** The rate limit of the SDK key. */
const LIMIT = 400
/** The number of refused requests after which the test of the rate limit ends. */
const REFUSALS = 40
const KILLS = 3
const context = { kind: 'user', key: 'user-1' }

// biome-ignore lint/suspicious/noExplicitAny: the test checks the shape of responses
type Json = any

/**
 * An agent that opens a connection for each request, so that the workers take turns. The timeout
 * is necessary because a connection to a killed worker can stay open without a response.
 */
const oneConnectionEach = new Agent({ pipelining: 0, headersTimeout: 15_000 })

let standalone: RunningStandalone
let url = ''
let orgId = ''
let inProject = ''
let inLive = ''

beforeAll(async () => {
  standalone = new RunningStandalone({
    FF_WORKERS: String(WORKERS),
    FF_ADMIN_TOKEN: ADMIN_TOKEN,
    FF_METRICS_PUBLIC: '1',
  })
  url = await standalone.listening()
  orgId = (await manage('POST', '/organizations', { name: 'Several' })).id
  const project = await manage('POST', `/organizations/${orgId}/projects`, { key: 'several' })
  inProject = `/projects/${project.id}`
  const environments = (await manage('GET', `${inProject}/envs`)).data
  inLive = `${inProject}/envs/${environments.find((each: Json) => each.is_default).id}`
})

afterAll(async () => {
  await standalone.destroy()
  await oneConnectionEach.close()
})

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Json
}

async function ask(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: object } = {},
): Promise<Answer> {
  const {
    statusCode,
    headers: answered,
    body: read,
  } = await request(url + path, {
    method,
    dispatcher: oneConnectionEach,
    reset: true,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await read.text()
  const isJson = text.startsWith('{') || text.startsWith('[')
  return { status: statusCode, headers: answered, body: isJson ? JSON.parse(text) : text }
}

async function manage(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object) {
  const authorization = { authorization: `Bearer ${ADMIN_TOKEN}` }
  const answer = await ask(method, path, { headers: authorization, ...(body && { body }) })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer.body?.data
}

async function createFlag(key: string): Promise<string> {
  const variations = ['off', 'on'].map((name) => ({ key: name, value: String(name === 'on') }))
  return (await manage('POST', `${inProject}/flags`, { key, type: 'boolean', variations })).id
}

/** Changes the default variation of a flag to `on`. */
async function turnOn(flagId: string): Promise<void> {
  const { variations } = await manage('GET', `${inProject}/flags/${flagId}`)
  const on = variations.find(({ key }: Json) => key === 'on')
  await manage('PUT', `${inLive}/flags/${flagId}`, { default_variation_id: on.id })
}

const createKey = async (fields: object = {}): Promise<{ id: string; key: string }> =>
  manage('POST', `${inLive}/sdk-keys`, { name: 'a key', kind: 'client', ...fields })

const evaluate = (key: string, path = 'evaluate', headers: Record<string, string> = {}) =>
  ask('POST', `/evaluator/${path}`, {
    headers: { 'x-api-key': key, ...headers },
    body: { context },
  })

/** Opens a socket, sends `init`, and collects the messages from the server. */
async function openSocket(sdkKey: string) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/sdk`)
  await once(socket, 'open')
  const received: Json[] = []
  socket.on('message', (text) => received.push(JSON.parse(String(text))))
  socket.send(JSON.stringify({ type: 'init', sdkKey, context }))
  await expect.poll(() => received.length).toBe(1)
  const closed = once(socket, 'close').then(([code]) => code as number)
  return { received, closed, close: () => socket.close() }
}

/** Returns the value of a metric for each worker; with further labels, such as `,kind="a"`. */
async function byWorker(metric: string, labels = ''): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>()
  for (let n = 0; n < 100 && found.size < WORKERS; n += 1) {
    const { body } = await ask('GET', '/metrics')
    const [, worker = '', value] =
      new RegExp(`^${metric}\\{worker="(\\d+)"${labels}\\} (\\d+)`, 'm').exec(body) ?? []
    found.set(worker, Number(value))
  }
  return found
}

/** Returns the number of pending polls of all workers. */
async function pendingPolls(): Promise<number> {
  const polls = await byWorker('ff_live_clients', ',transport="poll"')
  return [...polls.values()].reduce((sum, count) => sum + count, 0)
}

describe('several workers', () => {
  it('A change on one worker reaches sockets, polls and requests on all workers', async () => {
    const { key } = await createKey()
    const flagId = await createFlag('reaches-all')
    await expect.poll(async () => (await evaluate(key)).body).toHaveProperty('reaches-all')
    const sockets = await Promise.all(Array.from({ length: 6 }, () => openSocket(key)))
    expect([...(await byWorker('ff_sockets')).values()].every((count) => count > 0)).toBe(true)
    const polls = Array.from({ length: 6 }, () => evaluate(key, 'poll'))
    await expect.poll(pendingPolls).toBe(6)

    await turnOn(flagId)
    for (const { body } of await Promise.all(polls)) {
      expect(body).toMatchObject({ 'reaches-all': true })
    }
    for (const { received } of sockets) {
      await expect
        .poll(() => received.at(-1))
        .toMatchObject({ type: 'flags', flags: { 'reaches-all': true } })
    }
    const requests = async () =>
      Promise.all(Array.from({ length: 8 }, async () => (await evaluate(key)).body['reaches-all']))
    await expect.poll(requests).toEqual(Array.from({ length: 8 }, () => true))
    for (const { close } of sockets) close()
  })

  it('All workers refuse a revoked key and close its sockets', async () => {
    const { id, key } = await createKey()
    await expect.poll(async () => (await evaluate(key)).status).toBe(200)
    const sockets = await Promise.all(Array.from({ length: 4 }, () => openSocket(key)))
    await manage('DELETE', `${inLive}/sdk-keys/${id}`)
    expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([4401, 4401, 4401, 4401])
    const statuses = async () =>
      Promise.all(Array.from({ length: 8 }, async () => (await evaluate(key)).status))
    await expect.poll(statuses).toEqual(Array.from({ length: 8 }, () => 401))
  })

  // On a very busy machine, a worker receives no lease in time, and counts alone for five seconds.
  const afterRest = { count: 3, delay: 6000 }
  it('A rate limit applies to all workers together', { retry: afterRest }, async () => {
    const { key } = await createKey({ rate_limit: LIMIT })
    const { key: unlimited } = await createKey()
    await expect.poll(async () => (await evaluate(unlimited)).status).toBe(200)
    const { headers: known } = await evaluate(unlimited)
    // An evaluation of more than 2 ms counts several times, which happens on a busy machine. A
    // request for known values is answered without an evaluation.
    const isKnown = { 'if-none-match': String(known['etag']) }
    const windows = new Map<string, { passed: number; refused: number; remaining: number[] }>()
    const windowOf = (reset: string) => {
      const window = windows.get(reset) ?? { passed: 0, refused: 0, remaining: [] }
      windows.set(reset, window)
      return window
    }
    const usedUp = () => [...windows.values()].find(({ refused }) => refused >= REFUSALS)
    const hammer = async () => {
      for (let n = 0; n < LIMIT && usedUp() === undefined; n += 1) {
        const { status, headers } = await evaluate(key, 'evaluate', isKnown)
        // The worker has not loaded the new key yet.
        if (status === 401) continue
        const window = windowOf(String(headers['x-ratelimit-reset']))
        window.remaining.push(Number(headers['x-ratelimit-remaining']))
        if (status === 304) window.passed += 1
        else window.refused += 1
      }
    }
    await Promise.all(Array.from({ length: 16 }, hammer))
    for (const { passed } of windows.values()) expect(passed).toBeLessThanOrEqual(LIMIT)
    expect(usedUp()?.passed).toBeGreaterThanOrEqual(LIMIT * 0.98)
    expect(usedUp()?.remaining.every((count) => count >= 0 && count < LIMIT)).toBe(true)
  })
})

/** Creates flags, four at a time, during `work`. Returns the keys of the acknowledged flags. */
async function writeDuring(work: (acknowledged: readonly string[]) => Promise<void>) {
  const acknowledged: string[] = []
  let isOver = false
  const write = async (writer: number) => {
    for (let n = 0; !isOver; n += 1) {
      const key = `written-${writer}-${n}`
      // If a worker is killed before it responds, the flag may or may not exist.
      const done = await createFlag(key).catch(() => undefined)
      if (done === undefined) await pause(10)
      else acknowledged.push(key)
    }
  }
  const writing = [0, 1, 2, 3].map(write)
  try {
    await work(acknowledged)
  } finally {
    isOver = true
    await Promise.all(writing)
  }
  return acknowledged
}

describe('workers that are killed', () => {
  it('Killed workers lose no acknowledged write, do not block writers, and are replaced', async () => {
    const acknowledged = await writeDuring(async (written) => {
      const moreAreWritten = async () => {
        const before = written.length
        await expect.poll(() => written.length).toBeGreaterThan(before + 5)
      }
      for (let kill = 0; kill < KILLS; kill += 1) {
        await moreAreWritten()
        await pause(Math.random() * 100)
        const before = standalone.workers
        process.kill(before[kill % WORKERS] ?? 0, 'SIGKILL')
        const replaced = () => standalone.workers.filter((pid) => !before.includes(pid)).length
        await expect.poll(replaced).toBe(1)
        // Waits until the replacement serves requests, before the next worker is killed.
        await expect.poll(async () => (await byWorker('ff_sockets')).size).toBe(WORKERS)
      }
      await moreAreWritten()
    })
    const kept = await allFlagKeys()
    expect(acknowledged.filter((key) => !kept.has(key))).toEqual([])
    expect(await findDamage(standalone)).toEqual([])
    expect(await manage('GET', `/audit/verify?org_id=${orgId}`)).toMatchObject({ valid: true })
    expect(standalone.log.match(/has exited and will be replaced/g)).toHaveLength(KILLS)
  })
})

async function allFlagKeys(): Promise<ReadonlySet<string>> {
  const keys = new Set<string>()
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const { data, meta } = await manage('GET', `${inProject}/flags?limit=100&page=${page}`)
    for (const { key } of data) keys.add(key)
    pages = meta.pageCount
  }
  return keys
}

describe('SIGTERM', () => {
  it('SIGTERM ends all workers gracefully: polls respond, sockets close with 1001, writes are kept', async () => {
    const { key } = await createKey()
    await expect.poll(async () => (await evaluate(key)).status).toBe(200)
    await expect.poll(async () => (await byWorker('ff_sockets')).size).toBe(WORKERS)
    const sockets = await Promise.all(Array.from({ length: 6 }, () => openSocket(key)))
    const polls = Array.from({ length: 10 }, () => evaluate(key, 'poll'))
    await expect.poll(pendingPolls).toBe(10)
    standalone.stop('SIGTERM')
    for (const { status, body } of await Promise.all(polls)) {
      expect(status).toBe(200)
      expect(body).toMatchObject({ 'reaches-all': true })
    }
    expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual(sockets.map(() => 1001))
    expect(await standalone.ended).toBe(0)
    expect(await findDamage(standalone)).toEqual([])
  })
})
