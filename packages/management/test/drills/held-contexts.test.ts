import { connect } from 'node:net'
import { DEFAULT_RATE_LIMIT, MAX_HELD_CONTEXT_BYTES } from '@ff/protocol/sdk'
import { expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { IS_FULL, quantile, report, sized } from '../../../server/test/drills/scale.ts'
import { evaluateRequest, RawConnection } from '../../../server/test/node/raw-connection.ts'
import { World } from '../world/world.ts'
import { createDataFile, type DataFile, withStorage } from './data-file.ts'
import { pause, type ServerProcess, startServer } from './server-process.ts'

const QUIET_MS = sized({ full: 10_000, small: 500 })
const ATTACK_MS = sized({ full: 60_000, small: 2000 })
const BUDGET = sized({ full: 128 * 1024 * 1024, small: 2 * 1024 * 1024 })
/** Requests are sent in bursts, at the rate that the limit of the key permits. */
const BURST = 200
const EVERY_MS = (60_000 / DEFAULT_RATE_LIMIT) * BURST
const MEMORY_LIMIT = 450 * 1000 * 1000

/** Creates a client key with the default rate limit, for the attacker. */
function addPublicKey({ path, tenant }: DataFile): Promise<string> {
  return withStorage(path, async (storage) => {
    const world = await World.create(storage)
    const params = { projectId: tenant.project.id, environmentId: tenant.live.id }
    const body = { name: 'public', kind: 'client' } as const
    return (await world.management.createSdkKey({ params, body })).key
  })
}

/** Contexts with one byte per character, with two bytes per character, and with many attributes. */
const FILLERS = [
  (length: number) => ({ texts: textsOf(length) }),
  (length: number) => ({ texts: ['語', ...textsOf(length - 6)] }),
  (length: number) => ({
    ...Object.fromEntries(
      Array.from({ length: 1500 }, (_, at) => [`attribute-${at}`, `value ${at}`]),
    ),
    texts: textsOf(length - 46_000),
  }),
]

function textsOf(length: number): string[] {
  return Array.from({ length: Math.floor(length / 8003) }, () => 'x'.repeat(8000))
}

/** Returns a context near the maximum size for a poll or a socket. */
function contextOf(number: number): object {
  const filler = FILLERS[number % FILLERS.length]?.(MAX_HELD_CONTEXT_BYTES - 200)
  const context = { kind: 'user', key: `user-${number}`, ...filler, rest: '' }
  const rest = MAX_HELD_CONTEXT_BYTES - Buffer.byteLength(JSON.stringify(context))
  return { ...context, rest: 'x'.repeat(Math.min(8000, rest)) }
}

function pollRequest(sdkKey: string, number: number): Buffer {
  const request = evaluateRequest(sdkKey, JSON.stringify({ context: contextOf(number) }))
  return Buffer.from(request.toString('utf8').replace('/evaluate ', '/poll '))
}

/** Returns an upgrade request and an `init` message as bytes. */
function initRequest(sdkKey: string, number: number): Buffer {
  const init = JSON.stringify({ type: 'init', sdkKey, context: contextOf(number) })
  const payload = Buffer.from(init)
  const head = Buffer.alloc(14)
  head.writeUInt16BE(0x81ff)
  head.writeBigUInt64BE(BigInt(payload.length), 2)
  const upgrade =
    'GET /ws/sdk HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'
  return Buffer.concat([Buffer.from(upgrade), head, payload])
}

/** Returns the status of a response: `held` if there is none yet, `socket` after an upgrade. */
function outcomeOf(answer: string): string {
  const status = /"statusCode":(\d+)/.exec(answer)?.[1] ?? /^HTTP\/1.1 (\d+)/.exec(answer)?.[1]
  if (status === undefined) return 'held'
  return status === '101' ? 'socket' : status
}

/** Creates alternating polls and `init` messages before the measurement starts. */
function requestsOf(sdkKey: string): readonly Buffer[] {
  return Array.from({ length: Math.ceil(ATTACK_MS / EVERY_MS) * BURST }, (_, number) =>
    number % 2 === 0 ? pollRequest(sdkKey, number) : initRequest(sdkKey, number),
  )
}

/** Sends the requests at the rate that the limit of their key permits, and leaves them open. */
async function attack(
  { url }: ServerProcess,
  requests: readonly Buffer[],
): Promise<Map<string, number>> {
  const answers: { text: string }[] = []
  const send = (request: Buffer) => {
    const answer = { text: '' }
    answers.push(answer)
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => undefined)
    socket.on('data', (data) => {
      answer.text = (answer.text + data.toString('latin1')).slice(0, 2000)
      if (!['held', 'socket'].includes(outcomeOf(answer.text))) socket.destroy()
    })
    socket.write(request)
  }
  const startedAt = performance.now()
  for (let at = 0; at < requests.length; at += BURST) {
    for (const request of requests.slice(at, at + BURST)) send(request)
    await pause(startedAt + (at / BURST + 1) * EVERY_MS - performance.now())
  }
  await pause(1000)
  const counts = new Map<string, number>()
  for (const { text } of answers) {
    const outcome = outcomeOf(text)
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  }
  return counts
}

/** Returns the durations of another organization's evaluations within `ms`, sorted. */
async function evaluateFor({ url }: ServerProcess, sdkKey: string, ms: number): Promise<number[]> {
  const endsAt = performance.now() + ms
  const request = evaluateRequest(sdkKey, '{"context":{"kind":"user","key":"user-1"}}')
  const connection = await RawConnection.open(Number(new URL(url).port))
  const times: number[] = []
  while (performance.now() < endsAt) {
    const startedAt = performance.now()
    await connection.send(request)
    expect((await connection.answer())?.status).toBe(200)
    times.push(performance.now() - startedAt)
    await pause(10)
  }
  connection.close()
  return times.sort((left, right) => left - right)
}

/** Repeatedly opens sockets and sends polls of another organization. All of them must succeed. */
async function connectFor({ url }: ServerProcess, sdkKey: string, ms: number): Promise<void> {
  const endsAt = performance.now() + ms
  const init = JSON.stringify({ type: 'init', sdkKey, context: { kind: 'user', key: 'user-1' } })
  const openOne = async () => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/sdk`)
    onTestFinished(() => socket.terminate())
    const first = new Promise<string>((resolve, reject) => {
      socket.on('message', (data) => resolve(String(data)))
      socket.on('error', reject)
    })
    socket.on('open', () => socket.send(init))
    expect(JSON.parse(await first)).toMatchObject({ type: 'flags', full: true })
    return socket
  }
  const poll = (since?: string) =>
    fetch(`${url}/evaluator/poll`, {
      method: 'POST',
      headers: { 'x-api-key': sdkKey },
      body: JSON.stringify({ context: { kind: 'user', key: 'user-1' }, since }),
      signal: AbortSignal.timeout(ms + 30_000),
    })
  const lasting = await openOne()
  const held = poll()
  while (performance.now() < endsAt) {
    const socket = await openOne()
    expect((await poll('unknown')).status).toBe(200)
    socket.terminate()
    await pause(100)
  }
  expect(lasting.readyState).toBe(WebSocket.OPEN)
  // The poll receives a response after a minute, or is still pending.
  expect([200, undefined]).toContain((await Promise.race([held, pause(0)]))?.status)
  held.catch(() => undefined)
}

interface Memory {
  readonly resident: number
  readonly held: number
}

async function memoryOf({ url }: ServerProcess, { tenant }: DataFile): Promise<Memory> {
  const headers = { authorization: `Bearer ${tenant.tokens.platform}` }
  const text = await (await fetch(`${url}/metrics`, { headers })).text()
  const bytes = (name: string) => Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
  return {
    resident: bytes('process_resident_memory_bytes'),
    held: bytes('ff_held_context_bytes'),
  }
}

/** Returns the peak memory, in bytes, until `during` is settled. */
async function peakMemory(read: () => Promise<Memory>, during: Promise<unknown>): Promise<Memory> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  during.then(over, over)
  let peak = await read()
  while (!isOver) {
    await pause(200)
    const { resident, held } = await read()
    peak = { resident: Math.max(peak.resident, resident), held: Math.max(peak.held, held) }
  }
  return peak
}

const p95 = (times: readonly number[]) => quantile(times, 0.95)

it('The largest contexts of one client key do not exhaust memory or slow down other organizations', async () => {
  const file = await createDataFile()
  const key = await addPublicKey(file)
  const limits = { heldContextBytes: BUDGET, ...(IS_FULL && { heapMiB: 512 }) }
  const server = await startServer(file.path, limits)
  const requests = requestsOf(key)
  const quiet = await evaluateFor(server, file.bystanderKey, QUIET_MS)
  const all = Promise.all([
    attack(server, requests),
    evaluateFor(server, file.bystanderKey, ATTACK_MS),
    connectFor(server, file.bystanderKey, ATTACK_MS),
  ])
  const peaks = peakMemory(() => memoryOf(server, file), all)
  const [{ resident, held }, [counts, attacked]] = await Promise.all([peaks, all])
  report(
    `held contexts: ${[...counts].map(([outcome, count]) => `${count} × ${outcome}`).join(', ')}; ` +
      `${(held / 2 ** 20).toFixed(1)} MiB held, ${(resident / 1e6).toFixed(0)} MB resident; another ` +
      `organization's p95 ${p95(quiet).toFixed(1)} → ${p95(attacked).toFixed(1)} ms`,
  )
  for (const outcome of counts.keys()) expect(['held', 'socket', '200', '429']).toContain(outcome)
  expect(counts.get('429')).toBeGreaterThan(0)
  expect(held).toBeGreaterThan(BUDGET / 8)
  // The contexts of the other organization take a few hundred bytes.
  expect(held).toBeLessThanOrEqual(BUDGET / 4 + 1000)
  if (IS_FULL) {
    expect(resident).toBeLessThan(MEMORY_LIMIT)
    expect(p95(attacked) - p95(quiet)).toBeLessThanOrEqual(20)
  }
})
