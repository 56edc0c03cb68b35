import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { IS_FULL, report, sized } from '../../../server/test/drills/scale.ts'
import { createDataFile, type DataFile, evaluate } from './data-file.ts'
import { pause, type ServerProcess, startServer } from './server-process.ts'

const PROGRAM = fileURLToPath(new URL('reconnecting.js', import.meta.url))
const CLIENTS = sized({ full: 10_000, small: 300 })
/** The option `maxNewSocketsPerSecond`. One organization receives three quarters of it. */
const NEW_SOCKETS = sized({ full: 500, small: 100 })
const ADMITTED = NEW_SOCKETS * 0.75
const BURST = ADMITTED / 4
const WITHIN_SECONDS = 60
const MOST_DELAY_MS = 100

/** The results of the clients until all had received their values. */
interface Storm {
  readonly refused: number
  readonly displaced: number
  readonly lost: number
  readonly mostAttempts: number
  /** The times that refused clients had to wait, in seconds. */
  readonly waits: readonly number[]
  readonly seconds: number
}

describe('clients that reconnect after a restart', () => {
  it('Clients that reconnect at the same time are admitted at the configured rate', async () => {
    const file = await createDataFile()
    const before = await startServer(file.path)
    before.process.kill('SIGKILL')
    await before.ended
    const server = await startServer(file.path, { newSockets: NEW_SOCKETS })
    await eventLoopDelay(server, file)

    const reconnecting = { isOver: false }
    const evaluations = evaluateMeanwhile(server, file, reconnecting)
    const storm = await reconnect(server, file)
    const { seconds } = storm
    reconnecting.isOver = true
    const { median, longest } = await evaluations
    const delay = await eventLoopDelay(server, file)

    report(
      `${CLIENTS} sockets of one organization reopened in 1 s, ${ADMITTED} admitted per second: all ` +
        `connected after ${seconds.toFixed(1)} s and at most ${storm.mostAttempts} attempts; ` +
        `${storm.refused} refused, ${storm.displaced} displaced, ${storm.lost} ` +
        `lost; event loop delay p99 ${delay.p99} ms, most ${delay.most} ms; ` +
        `evaluations median ${median.toFixed(0)} ms, longest ${longest.toFixed(0)} ms`,
    )
    expect(seconds).toBeGreaterThanOrEqual((CLIENTS - BURST) / ADMITTED - 1)
    expect(storm.refused).toBeGreaterThan(0)
    expect(Math.min(...storm.waits)).toBeGreaterThanOrEqual(1)
    expect(Math.max(...storm.waits)).toBeLessThanOrEqual(60)
    expect(server.process.exitCode).toBeNull()
    expect((await evaluate(server.url, file.bystanderKey)).data).toEqual({ steady: false })
    if (IS_FULL) {
      expect(seconds).toBeLessThan(WITHIN_SECONDS)
      expect(delay.most).toBeLessThan(MOST_DELAY_MS)
    }
  })
})

/** Runs the clients in a separate process. Resolves when all of them have received their flags. */
async function reconnect({ url }: ServerProcess, { bystanderKey }: DataFile): Promise<Storm> {
  const words = [PROGRAM, new URL(url).port, bystanderKey, `${CLIENTS}`]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line)
  throw new Error('The clients ended before all of them were connected.')
}

async function evaluateMeanwhile(
  { url }: ServerProcess,
  { bystanderKey }: DataFile,
  reconnecting: { readonly isOver: boolean },
): Promise<{ median: number; longest: number }> {
  const times: number[] = []
  while (!reconnecting.isOver) {
    const startedAt = performance.now()
    const { status } = await evaluate(url, bystanderKey)
    expect(status).toBe(200)
    times.push(performance.now() - startedAt)
    await pause(20)
  }
  times.sort((a, b) => a - b)
  return { median: times[times.length >> 1] ?? 0, longest: times.at(-1) ?? 0 }
}

/** Returns the event loop delay of the server since the previous call, in milliseconds. */
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
