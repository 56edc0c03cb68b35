import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { findDamage } from '../src/verify.ts'
import { RunningStandalone } from './running-standalone.ts'

const ADMIN_TOKEN = 'an-administrators-own-token'
const WORKERS = 2
/** Permits of a window, and how many requests are refused before it has been seen enough. */
const LIMIT = 400
const REFUSALS = 40
const KILLS = 3
const SOON = { timeout: 10_000 }
/** What starts a process first. */
const LATER = { timeout: 40_000 }
const context = { kind: 'user', key: 'user-1' }

// biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what the test is about
type Json = any

/**
 * A connection for each request, so that every worker is asked in turn. One that was on its way
 * to a worker that is killed is neither served nor cut.
 */
const eachAnew = new Agent({ pipelining: 0, headersTimeout: 15_000 })

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
}, 90_000)

afterAll(async () => {
  await standalone.destroy()
  await eachAnew.close()
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
    dispatcher: eachAnew,
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

/** From now on the flag gives its other variation to everybody. */
async function turnOn(flagId: string): Promise<void> {
  const { variations } = await manage('GET', `${inProject}/flags/${flagId}`)
  const on = variations.find(({ key }: Json) => key === 'on')
  await manage('PUT', `${inLive}/flags/${flagId}`, { default_variation_id: on.id })
}

const createKey = async (fields: object = {}): Promise<{ id: string; key: string }> =>
  manage('POST', `${inLive}/sdk-keys`, { name: 'a key', kind: 'client', ...fields })

const evaluate = (key: string, path = 'evaluate') =>
  ask('POST', `/evaluator/${path}`, { headers: { 'x-api-key': key }, body: { context } })

/** An initialized socket, and everything it was told since. */
async function openSocket(sdkKey: string) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/sdk`)
  await once(socket, 'open')
  const heard: Json[] = []
  socket.on('message', (text) => heard.push(JSON.parse(String(text))))
  socket.send(JSON.stringify({ type: 'init', sdkKey, context }))
  await expect.poll(() => heard.length, SOON).toBe(1)
  const closed = once(socket, 'close').then(([code]) => code as number)
  return { heard, closed, close: () => socket.close() }
}

/** What one kind of metric says, by worker, once every worker was asked. */
async function byWorker(metric: string): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>()
  for (let n = 0; n < 100 && found.size < WORKERS; n += 1) {
    const { body } = await ask('GET', '/metrics')
    const [, worker = '', value] =
      new RegExp(`^${metric}\\{worker="(\\d+)"\\} (\\d+)`, 'm').exec(body) ?? []
    found.set(worker, Number(value))
  }
  return found
}

describe('several workers', { timeout: 120_000 }, () => {
  it('a change made through one reaches sockets, polls and requests on each', async () => {
    const { key } = await createKey()
    const flagId = await createFlag('reaches-all')
    await expect.poll(async () => (await evaluate(key)).body, SOON).toHaveProperty('reaches-all')
    const sockets = await Promise.all(Array.from({ length: 6 }, () => openSocket(key)))
    expect([...(await byWorker('ff_sockets')).values()].every((count) => count > 0)).toBe(true)
    const polls = Array.from({ length: 6 }, () => evaluate(key, 'poll'))
    await pause(500)

    await turnOn(flagId)
    for (const { body } of await Promise.all(polls)) {
      expect(body).toMatchObject({ 'reaches-all': true })
    }
    for (const { heard } of sockets) {
      await expect
        .poll(() => heard.at(-1), SOON)
        .toMatchObject({ type: 'flags', flags: { 'reaches-all': true } })
    }
    const requests = async () =>
      Promise.all(Array.from({ length: 8 }, async () => (await evaluate(key)).body['reaches-all']))
    await expect.poll(requests, SOON).toEqual(Array.from({ length: 8 }, () => true))
    for (const { close } of sockets) close()
  })

  it('a revoked key is refused by each, and its sockets are closed', async () => {
    const { id, key } = await createKey()
    await expect.poll(async () => (await evaluate(key)).status, SOON).toBe(200)
    const sockets = await Promise.all(Array.from({ length: 4 }, () => openSocket(key)))
    await manage('DELETE', `${inLive}/sdk-keys/${id}`)
    expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([4401, 4401, 4401, 4401])
    const statuses = async () =>
      Promise.all(Array.from({ length: 8 }, async () => (await evaluate(key)).status))
    await expect.poll(statuses, SOON).toEqual(Array.from({ length: 8 }, () => 401))
  })

  it('a rate limit holds for all of them together', async () => {
    const { key } = await createKey({ rate_limit: LIMIT })
    const windows = new Map<string, { passed: number; refused: number; remaining: number[] }>()
    const windowOf = (reset: string) => {
      const window = windows.get(reset) ?? { passed: 0, refused: 0, remaining: [] }
      windows.set(reset, window)
      return window
    }
    const usedUp = () => [...windows.values()].find(({ refused }) => refused >= REFUSALS)
    const hammer = async () => {
      for (let n = 0; n < LIMIT && usedUp() === undefined; n += 1) {
        const { status, headers } = await evaluate(key)
        // Until its worker has heard of the key.
        if (status === 401) continue
        const window = windowOf(String(headers['x-ratelimit-reset']))
        window.remaining.push(Number(headers['x-ratelimit-remaining']))
        if (status === 200) window.passed += 1
        else window.refused += 1
      }
    }
    await Promise.all(Array.from({ length: 16 }, hammer))
    for (const { passed } of windows.values()) expect(passed).toBeLessThanOrEqual(LIMIT)
    expect(usedUp()?.passed).toBeGreaterThanOrEqual(LIMIT * 0.98)
    expect(usedUp()?.remaining.every((count) => count >= 0 && count < LIMIT)).toBe(true)
  })
})

/** Creates flags, four at once, while `work` is under way; answers the keys of those acknowledged. */
async function writeDuring(work: (acknowledged: readonly string[]) => Promise<void>) {
  const acknowledged: string[] = []
  let isOver = false
  const write = async (writer: number) => {
    for (let n = 0; !isOver; n += 1) {
      const key = `written-${writer}-${n}`
      // What a worker that is killed does not answer may be done or not.
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

describe('workers that are killed', { timeout: 240_000 }, () => {
  it('lose nothing acknowledged, leave the writer to others, and are replaced', async () => {
    const acknowledged = await writeDuring(async (written) => {
      const moreAreWritten = async () => {
        const before = written.length
        await expect.poll(() => written.length, LATER).toBeGreaterThan(before + 5)
      }
      for (let kill = 0; kill < KILLS; kill += 1) {
        await moreAreWritten()
        await pause(Math.random() * 100)
        const before = standalone.workers
        process.kill(before[kill % WORKERS] ?? 0, 'SIGKILL')
        const replaced = () => standalone.workers.filter((pid) => !before.includes(pid)).length
        await expect.poll(replaced, LATER).toBe(1)
        // The next one is killed when this one's successor serves.
        await expect.poll(async () => (await byWorker('ff_sockets')).size, LATER).toBe(WORKERS)
      }
      await moreAreWritten()
    })
    const kept = await allFlagKeys()
    expect(acknowledged.filter((key) => !kept.has(key))).toEqual([])
    expect(await findDamage(standalone.dataDir)).toEqual([])
    expect(await manage('GET', `/audit/verify?org_id=${orgId}`)).toMatchObject({ valid: true })
    expect(standalone.log.match(/another one takes its place/g)).toHaveLength(KILLS)
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

describe('SIGTERM', { timeout: 120_000 }, () => {
  it('ends every worker as it should: polls are answered, sockets told, writes kept', async () => {
    const { key } = await createKey()
    await expect.poll(async () => (await evaluate(key)).status, SOON).toBe(200)
    await expect.poll(async () => (await byWorker('ff_sockets')).size, SOON).toBe(WORKERS)
    const sockets = await Promise.all(Array.from({ length: 6 }, () => openSocket(key)))
    const polls = Array.from({ length: 10 }, () => evaluate(key, 'poll'))
    await pause(500)
    standalone.stop('SIGTERM')
    for (const { status, body } of await Promise.all(polls)) {
      expect(status).toBe(200)
      expect(body).toMatchObject({ 'reaches-all': true })
    }
    expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual(sockets.map(() => 1001))
    expect(await standalone.ended).toBe(0)
    expect(await findDamage(standalone.dataDir)).toEqual([])
  })
})
