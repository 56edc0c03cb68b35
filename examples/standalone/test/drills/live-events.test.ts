import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { IS_FULL, report, sized } from '../../../../packages/server/test/drills/scale.ts'
import { RunningStandalone } from '../running-standalone.ts'

const ADMIN_TOKEN = 'an-administrators-own-token'
const WORKERS = 2
const SOCKETS = sized({ full: 1000, small: 60 })
const SWITCHES = sized({ full: 10, small: 3 })
/** The time within which the streams of all workers report that no client is behind. */
const WITHIN_MS = 1000
const authorization = `Bearer ${ADMIN_TOKEN}`

// biome-ignore lint/suspicious/noExplicitAny: the test checks the shape of responses
type Json = any

/** Opens a connection for each request, so that the workers take turns. */
const oneConnectionEach = new Agent({ pipelining: 0 })

let standalone: RunningStandalone
let url = ''
let inProject = ''
let inLive = ''
let flagId = ''
const sockets: WebSocket[] = []

beforeAll(async () => {
  standalone = new RunningStandalone({ FF_WORKERS: String(WORKERS), FF_ADMIN_TOKEN: ADMIN_TOKEN })
  url = await standalone.listening()
  const { id } = await manage('POST', '/organizations', { name: 'Live' })
  const project = await manage('POST', `/organizations/${id}/projects`, { key: 'live-events' })
  inProject = `/projects/${project.id}`
  const environments = (await manage('GET', `${inProject}/envs`)).data
  inLive = `${inProject}/envs/${environments.find((each: Json) => each.is_default).id}`
  const variations = ['off', 'on'].map((key) => ({ key, value: String(key === 'on') }))
  const flag = { key: 'switched', type: 'boolean', variations }
  flagId = (await manage('POST', `${inProject}/flags`, flag)).id
  const { key } = await manage('POST', `${inLive}/sdk-keys`, { name: 'a key', kind: 'client' })
  for (let n = 0; n < SOCKETS; n += 20) {
    const opened = Array.from({ length: Math.min(20, SOCKETS - n) }, (_, k) => open(key, n + k))
    sockets.push(...(await Promise.all(opened)))
  }
})

afterAll(async () => {
  for (const socket of sockets) socket.terminate()
  await standalone.destroy()
  await oneConnectionEach.close()
})

async function manage(
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  { headersTimeout = 15_000, ...body }: Json = {},
): Promise<Json> {
  const { statusCode, body: read } = await request(url + path, {
    ...{ method, dispatcher: oneConnectionEach, reset: true, headersTimeout },
    headers: { 'content-type': 'application/json', authorization },
    ...(method !== 'GET' && { body: JSON.stringify(body) }),
  })
  const text = await read.text()
  if (statusCode >= 300) throw new Error(`${method} ${path}: ${text}`)
  return JSON.parse(text).data
}

async function open(sdkKey: string, n: number): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/sdk`)
  await once(socket, 'open')
  const context = { kind: 'user', key: `user-${n}` }
  socket.send(JSON.stringify({ type: 'init', sdkKey, context }))
  const [text] = await once(socket, 'message')
  if (JSON.parse(String(text)).type === 'flags') return socket
  // Too many sockets start at the same time.
  socket.terminate()
  await pause(100)
  return open(sdkKey, n)
}

/** An open event stream, and the time at which each event arrived. */
interface Stream {
  readonly events: { readonly event: string; readonly data: Json; readonly at: number }[]
  close(): void
}

async function openStream(): Promise<Stream> {
  const aborting = new AbortController()
  const { body } = await request(`${url}${inProject}/events`, {
    ...{ dispatcher: oneConnectionEach, signal: aborting.signal },
    headers: { authorization },
    bodyTimeout: 0,
  })
  const events: Stream['events'] = []
  const read = async () => {
    let text = ''
    for await (const chunk of body) {
      text += chunk
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const [, event, data] = /^event: (\w+)[\s\S]*^data: (.*)$/m.exec(text.slice(0, end)) ?? []
        text = text.slice(end + 2)
        if (event === undefined || data === undefined) continue
        events.push({ event, data: JSON.parse(data), at: performance.now() })
      }
    }
  }
  void read().catch(() => undefined)
  return { events, close: () => aborting.abort() }
}

const convergence = (options?: Json) => manage('GET', `${inLive}/convergence`, options)

/** Waits until the total of all workers has these numbers. */
async function untilTotal(ws: number, instances: number): Promise<void> {
  const current = async () => {
    const { total, instances: all } = await convergence()
    return [total.ws, total.behind, all.length]
  }
  await expect.poll(current).toEqual([ws, 0, instances])
}

describe('live events of several workers', () => {
  it('A switch reaches all sockets, and the streams of all workers report it within a second', async () => {
    await untilTotal(SOCKETS, WORKERS)
    // Connections are distributed in turn, so that each worker has streams.
    const streams = await Promise.all(Array.from({ length: 2 * WORKERS }, openStream))
    const slowest: number[] = []
    for (let n = 0; n < SWITCHES; n += 1) {
      const received = sockets.map((socket) => once(socket, 'message'))
      const sentAt = performance.now()
      await manage('PUT', `${inLive}/flags/${flagId}`, {
        default_variation_id: await variationId(n % 2 === 0 ? 'on' : 'off'),
      })
      const { version } = await convergence()
      const isOver = ({ events }: Stream) =>
        events.find(({ event, data }) => {
          return event === 'convergence' && data.version === version && data.total.behind === 0
        })
      await expect.poll(() => streams.every(isOver), { interval: 10 }).toBe(true)
      await Promise.all(received)
      slowest.push(Math.max(...streams.map((stream) => (isOver(stream)?.at ?? 0) - sentAt)))
      for (const stream of streams) {
        expect(isOver(stream)?.data.total).toMatchObject({ ws: SOCKETS, behind: 0 })
      }
    }
    for (const { events, close } of streams) {
      expect(events.filter(({ event }) => event === 'version')).toHaveLength(SWITCHES)
      close()
    }
    const sorted = slowest.map(Math.round).sort((a, b) => a - b)
    report(
      `${SOCKETS} sockets on ${WORKERS} workers, ${SWITCHES} switches: event: convergence with 0 behind ` +
        `on every stream after ${sorted.join(', ')} ms`,
    )
    if (IS_FULL) expect(sorted.at(-1)).toBeLessThanOrEqual(WITHIN_MS)
  })

  it('Every worker returns the same convergence', async () => {
    await untilTotal(SOCKETS, WORKERS)
    const answers = await Promise.all(Array.from({ length: 4 * WORKERS }, () => convergence()))
    const shapes = answers.map(({ version, total, by_version, reached, instances }) => {
      const rows = instances.map(({ seen_at: _, ...row }: Json) => row)
      return { version, total, by_version, reached, rows }
    })
    for (const shape of shapes) expect(shape).toEqual(shapes[0])
    report(`reached: ${JSON.stringify(shapes[0]?.reached)}`)
  })

  it('A worker that is killed disappears within 15 seconds', async () => {
    const before = await convergence()
    const [victim = 0] = standalone.workers
    const killedAt = performance.now()
    process.kill(victim, 'SIGKILL')
    const remaining = async () => {
      const known = new Set(before.instances.map((each: Json) => each.instance_id))
      // A connection to a killed worker can stay open without a response.
      const { instances } = await convergence({ headersTimeout: 1000 }).catch(() => before)
      return instances.filter((each: Json) => known.has(each.instance_id)).length
    }
    const timeout = IS_FULL ? 15_000 : 60_000
    await expect.poll(remaining, { timeout, interval: 50 }).toBe(WORKERS - 1)
    report(`a killed worker disappeared after ${Math.round(performance.now() - killedAt)} ms`)
  })
})

async function variationId(key: string): Promise<string> {
  const { variations } = await manage('GET', `${inProject}/flags/${flagId}`)
  return variations.find((each: Json) => each.key === key).id
}
