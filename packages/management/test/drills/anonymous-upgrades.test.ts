import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { asServerMessage, type ServerMessage } from '@ff/protocol/sdk'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { IS_FULL, quantile, report, sized } from '../../../server/test/drills/scale.ts'
import { createDataFile, type DataFile, evaluate } from './data-file.ts'
import { pause, type ServerProcess, startServer } from './server-process.ts'

const PROGRAM = fileURLToPath(new URL('anonymous.js', import.meta.url))
const PER_SECOND = sized({ full: 1000, small: 300 })
const QUIET_MS = sized({ full: 5000, small: 300 })
const ATTACK_MS = sized({ full: 20_000, small: 2000 })
const HONEST = sized({ full: 100, small: 20 })
const MEMORY_LIMIT = 150 * 1024 * 1024
/** The default limit of one address, plus the upgrades of one slow turn of the event loop. */
const MOST_PENDING = 64 + 500

describe('anonymous WebSocket upgrades', () => {
  it('Honest clients can connect while one address opens many sockets without an init', async () => {
    const file = await createDataFile()
    const server = await startServer(file.path)
    const quiet = await evaluateFor(server, file, QUIET_MS)
    const before = await scrape(server, file)

    const anonymous = startAnonymousClients(server)
    const watched = watch(server, file, ATTACK_MS)
    const [attacked, attempts] = await Promise.all([
      evaluateFor(server, file, ATTACK_MS),
      Promise.all(
        Array.from({ length: HONEST }, async (_, client) => {
          await pause((client / HONEST) * ATTACK_MS)
          return connectHonestly(server, file)
        }),
      ),
    ])
    const { memory, pending, delay } = await watched
    const counts = await anonymous.stop()

    const later = attempts.filter((count) => count > 1).length
    report(
      `${PER_SECOND} anonymous upgrades per second from one address for ${ATTACK_MS / 1000} s ` +
        `(${counts}): ${HONEST} honest sockets connected, ${later} of them after a refusal; ` +
        `at most ${pending} pending; memory +${(memory - before.memory) >> 20} MiB; ` +
        `evaluation p95 ${quiet.toFixed(1)} → ${attacked.toFixed(1)} ms; ` +
        `event loop delay at most ${delay} ms`,
    )
    // On a busy machine, an honest client can meet the limit of its address again.
    if (IS_FULL) expect(Math.max(...attempts)).toBeLessThanOrEqual(2)
    expect(counts).toMatch(/^opened \d{3,} refused 0 /)
    expect(pending).toBeLessThanOrEqual(MOST_PENDING)
    expect(memory - before.memory).toBeLessThan(MEMORY_LIMIT)
    expect(server.process.exitCode).toBeNull()
    if (IS_FULL) expect(attacked - quiet).toBeLessThanOrEqual(20)
  })
})

/** Starts anonymous clients in a separate process, because they need a core. */
function startAnonymousClients({ url }: ServerProcess): { stop(): Promise<string> } {
  const child = spawn(process.execPath, [PROGRAM, new URL(url).port, `${PER_SECOND}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  let output = ''
  child.stdout.on('data', (data) => {
    output += data
  })
  const ended = new Promise((resolve) => child.on('close', resolve))
  return {
    async stop() {
      child.kill('SIGTERM')
      await ended
      return output.trim()
    },
  }
}

/** Connects a client that obeys `retryAfter`. Returns the number of attempts. */
async function connectHonestly(
  { url }: ServerProcess,
  { bystanderKey }: DataFile,
): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/sdk`)
    onTestFinished(() => socket.terminate())
    const message = await new Promise<ServerMessage | undefined>((resolve) => {
      const init = { type: 'init', sdkKey: bystanderKey, context: { kind: 'user', key: 'u' } }
      socket.on('open', () => socket.send(JSON.stringify(init)))
      socket.on('message', (data) => resolve(asServerMessage(JSON.parse(String(data)))))
      socket.on('error', () => resolve(undefined))
      socket.on('close', () => resolve(undefined))
    })
    if (message?.type === 'flags') {
      expect(message.flags).toEqual({ steady: false })
      return attempt
    }
    const seconds = message?.type === 'error' ? (message.retryAfter ?? 1) : 1
    await pause((seconds + Math.random()) * 1000)
  }
}

/** Returns the 95th percentile of the duration of evaluations, in milliseconds. */
async function evaluateFor({ url }: ServerProcess, file: DataFile, ms: number): Promise<number> {
  const times: number[] = []
  for (const endsAt = performance.now() + ms; performance.now() < endsAt; await pause(10)) {
    const startedAt = performance.now()
    expect((await evaluate(url, file.bystanderKey)).status).toBe(200)
    times.push(performance.now() - startedAt)
  }
  return quantile(times, 0.95)
}

/** Returns the highest values of the metrics within `ms` milliseconds. */
async function watch(server: ServerProcess, file: DataFile, ms: number) {
  const most = { memory: 0, pending: 0, delay: 0 }
  for (const endsAt = performance.now() + ms; performance.now() < endsAt; await pause(200)) {
    const { memory, pending, delay } = await scrape(server, file)
    most.delay = Math.max(most.delay, delay)
    most.memory = Math.max(most.memory, memory)
    most.pending = Math.max(most.pending, pending)
  }
  return most
}

async function scrape({ url }: ServerProcess, { tenant }: DataFile) {
  const headers = { authorization: `Bearer ${tenant.tokens.platform}` }
  const text = await (await fetch(`${url}/metrics`, { headers })).text()
  const read = (series: string) => Number(text.split(`\n${series} `)[1]?.split('\n')[0])
  return {
    memory: read('process_resident_memory_bytes'),
    pending: read('ff_sockets_pending'),
    delay: Math.round(read('ff_event_loop_delay_seconds{quantile="1"}') * 1000),
  }
}
