import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { IS_FULL, quantile, report, sized } from '../../../server/test/drills/scale.ts'
import { createDataFile, type DataFile, evaluate } from './data-file.ts'
import { pause, type ServerProcess, startServer } from './server-process.ts'

const SENDERS = sized({ full: 300, small: 60 })
const SECONDS = sized({ full: 60, small: 3 })

describe('requests that are sent byte by byte', () => {
  it('Requests that are sent byte by byte delay no evaluation and are cut within a minute', async () => {
    const file = await createDataFile()
    const server = await startServer(file.path)
    const begun = performance.now()
    const cuts = Array.from({ length: SENDERS }, (_, index) => drip(server, file, index % 2 === 0))
    const times: number[] = []
    while (performance.now() - begun < SECONDS * 1000) {
      const startedAt = performance.now()
      expect(await evaluate(server.url, file.bystanderKey)).toEqual({
        status: 200,
        data: { steady: false },
      })
      times.push(performance.now() - startedAt)
      await pause(50)
    }
    const p95 = quantile(times, 0.95)
    report(`${SENDERS} dripped requests: ${times.length} evaluations, p95 ${p95.toFixed(1)} ms`)
    if (!IS_FULL) return
    expect(p95).toBeLessThan(200)
    const cutAfter = await Promise.all(cuts)
    report(`the last of them was cut after ${(Math.max(...cutAfter) / 1000).toFixed(0)} s`)
    expect(Math.max(...cutAfter)).toBeLessThan(60_000)
  })
})

/** Sends one byte per second. Returns the time until the connection is closed, in milliseconds. */
function drip(
  { url }: ServerProcess,
  { bystanderKey }: DataFile,
  inHeaders: boolean,
): Promise<number> {
  const begun = performance.now()
  const socket: Socket = connect(Number(new URL(url).port), '127.0.0.1')
  const headers = `POST /evaluator/evaluate HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${bystanderKey}\r\n`
  socket.write(inHeaders ? `${headers}X-Slow: ` : `${headers}Content-Length: 1000\r\n\r\n`)
  const timer = setInterval(() => socket.write('a'), 1000)
  onTestFinished(() => void socket.destroy())
  socket.resume()
  // The server sends 408 and closes the connection, so later writes fail.
  socket.on('error', () => undefined)
  return new Promise((resolve) => {
    socket.on('close', () => {
      clearInterval(timer)
      resolve(performance.now() - begun)
    })
  })
}
