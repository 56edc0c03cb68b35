import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { createDataFile, type DataFile, evaluate } from './data-file.ts'
import { IS_FULL, report, sized } from './scale.ts'
import { pause, type ServerProcess, startServer } from './server-process.ts'

const CLIENTS = sized({ full: 10_000, small: 300 })
const NEW_SOCKETS = sized({ full: 500, small: 100 })
const BURST = NEW_SOCKETS / 4
const WITHIN_SECONDS = 60

/** What the clients met until each of them had its values. */
interface Storm {
  refused: number
  lost: number
  readonly waits: number[]
}

describe('a crowd of clients that come back at once after a restart', () => {
  it('is let in as fast as is set, told when to come again, and is all there soon', async () => {
    const file = await createDataFile()
    const before = await startServer(file.path)
    before.process.kill('SIGKILL')
    await before.ended
    const server = await startServer(file.path, { newSockets: NEW_SOCKETS })
    await eventLoopDelay(server, file)

    const storm: Storm = { refused: 0, lost: 0, waits: [] }
    const asking = { isOver: false }
    const evaluations = evaluateMeanwhile(server, file, asking)
    const startedAt = performance.now()
    const clients = Array.from({ length: CLIENTS }, async () => {
      await pause(Math.random() * 1000)
      await comeIn(server, file, storm)
    })
    await Promise.all(clients)
    const seconds = (performance.now() - startedAt) / 1000
    asking.isOver = true
    const { median, longest } = await evaluations
    const delay = await eventLoopDelay(server, file)

    report(
      `${CLIENTS} sockets reopened in 1 s, ${NEW_SOCKETS} a second let in: all in after ` +
        `${seconds.toFixed(1)} s; ${storm.refused} refused with Retry-After, ${storm.lost} lost on ` +
        `the way; event loop delay p99 ${delay.p99} ms, most ${delay.most} ms; ` +
        `evaluations median ${median.toFixed(0)} ms, longest ${longest.toFixed(0)} ms`,
    )
    expect(seconds).toBeGreaterThanOrEqual((CLIENTS - BURST) / NEW_SOCKETS - 1)
    expect(storm.refused).toBeGreaterThan(0)
    expect(Math.min(...storm.waits)).toBeGreaterThanOrEqual(1)
    expect(Math.max(...storm.waits)).toBeLessThanOrEqual(60)
    expect(server.process.exitCode).toBeNull()
    expect((await evaluate(server.url, file.bystanderKey)).data).toEqual({ steady: false })
    if (IS_FULL) expect(seconds).toBeLessThan(WITHIN_SECONDS)
  }, 180_000)
})

/** As a client does that obeys: comes back after the time it was told, and a little by chance. */
async function comeIn({ url }: ServerProcess, file: DataFile, storm: Storm): Promise<void> {
  const init = { type: 'init', sdkKey: file.bystanderKey, context: { kind: 'user', key: 'u' } }
  for (;;) {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/sdk`, {
      handshakeTimeout: 60_000,
    })
    const outcome = await new Promise<'open' | 'lost' | number>((resolve) => {
      socket.on('open', () => resolve('open'))
      socket.on('error', () => resolve('lost'))
      socket.on('unexpected-response', (_request, response: IncomingMessage) => {
        response.resume()
        resolve(response.statusCode === 429 ? Number(response.headers['retry-after']) : Number.NaN)
      })
    })
    if (outcome === 'open') {
      onTestFinished(() => socket.terminate())
      socket.send(JSON.stringify(init))
      const [message] = await once(socket, 'message')
      expect(JSON.parse(String(message)).flags).toEqual({ steady: false })
      return
    }
    const seconds = outcome === 'lost' ? 1 : outcome
    if (outcome === 'lost') storm.lost += 1
    else {
      storm.refused += 1
      storm.waits.push(outcome)
    }
    await pause((seconds + Math.random()) * 1000)
  }
}

async function evaluateMeanwhile(
  { url }: ServerProcess,
  { bystanderKey }: DataFile,
  asking: { readonly isOver: boolean },
): Promise<{ median: number; longest: number }> {
  const times: number[] = []
  while (!asking.isOver) {
    const startedAt = performance.now()
    const { status } = await evaluate(url, bystanderKey)
    expect(status).toBe(200)
    times.push(performance.now() - startedAt)
    await pause(20)
  }
  times.sort((a, b) => a - b)
  return { median: times[times.length >> 1] ?? 0, longest: times.at(-1) ?? 0 }
}

/** Of the server, since it was last asked for; in milliseconds. */
async function eventLoopDelay(
  { url }: ServerProcess,
  { tenant }: DataFile,
): Promise<{ p99: number; most: number }> {
  const headers = { authorization: `Bearer ${tenant.tokens.platform}` }
  const text = await (await fetch(`${url}/metrics`, { headers })).text()
  const read = (quantile: string) => {
    const line = new RegExp(`^ff_event_loop_delay_seconds{quantile="${quantile}"} (.*)$`, 'm')
    return Math.round(Number(line.exec(text)?.[1]) * 1000)
  }
  return { p99: read('0.99'), most: read('1') }
}
