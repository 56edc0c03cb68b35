import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { IS_FULL, report } from '../../../server/test/drills/scale.ts'
import type { Json } from '../world/world.ts'
import { CountingWriter, readKept } from './counting-writer.ts'
import { createDataFile, type DataFile, evaluate, withStorage } from './data-file.ts'
import { pause, type ServerProcess, startServer } from './server-process.ts'

const POLLS = 100
const SOCKETS = 20
const WRITERS = 4
const LONGEST_MS = 10_000
const context = { kind: 'user', key: 'user-1' }

describe('graceful shutdown', () => {
  it('On SIGTERM, a server responds to every poll, closes every socket with 1001, and loses no write', async () => {
    const file = await createDataFile()
    const server = await startServer(file.path)
    const sockets = await Promise.all(Array.from({ length: SOCKETS }, () => open(server.url, file)))
    const closed = sockets.map(async (socket) => (await once(socket, 'close'))[0])
    const polls = Array.from({ length: POLLS }, () => poll(server.url, file))
    await expect.poll(() => pendingPolls(server, file)).toBe(POLLS)
    const writers = Array.from({ length: WRITERS }, () => new CountingWriter(file))
    const writing = writers.map((writer) => writer.write(server.url))
    await expect.poll(() => writers.every(({ acknowledged }) => acknowledged > 0)).toBe(true)
    const early = await Promise.race([...polls, ...closed, pause(0)])
    expect(early, 'all polls and sockets are pending').toBeUndefined()

    const stoppedAt = performance.now()
    server.process.kill('SIGTERM')
    expect(await server.ended).toBe(0)
    const tookMs = performance.now() - stoppedAt
    if (IS_FULL) expect(tookMs).toBeLessThan(LONGEST_MS)
    for (const { status, values } of await Promise.all(polls)) {
      expect(status).toBe(200)
      expect(values).toEqual({ steady: false })
    }
    expect(await Promise.all(closed)).toEqual(sockets.map(() => 1001))
    await Promise.all(writing)
    await withStorage(file.path, async (storage) => {
      const kept = await readKept(storage, file.tenant)
      for (const writer of writers) writer.assertKept(kept)
    })
    const acknowledged = writers.reduce((sum, writer) => sum + writer.acknowledged, 0)
    report(
      `SIGTERM with ${POLLS} polls, ${SOCKETS} sockets, ${acknowledged} writes acknowledged: ` +
        `exit 0 after ${Math.round(tookMs)} ms`,
    )
    const again = await startServer(file.path)
    expect((await evaluate(again.url, file.bystanderKey)).data).toEqual({ steady: false })
  })
})

async function pendingPolls({ url }: ServerProcess, { tenant }: DataFile): Promise<number> {
  const headers = { authorization: `Bearer ${tenant.tokens.platform}` }
  const text = await (await fetch(`${url}/metrics`, { headers })).text()
  return Number(/^ff_live_clients\{transport="poll"\} (.*)$/m.exec(text)?.[1])
}

async function open(url: string, { bystanderKey }: DataFile): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/sdk`)
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'init', sdkKey: bystanderKey, context }))
  await once(socket, 'message')
  return socket
}

async function poll(
  url: string,
  { bystanderKey }: DataFile,
): Promise<{ status: number; values: Json }> {
  const response = await fetch(`${url}/evaluator/poll`, {
    method: 'POST',
    headers: { 'x-api-key': bystanderKey, 'content-type': 'application/json' },
    body: JSON.stringify({ context }),
  })
  return { status: response.status, values: await response.json() }
}
