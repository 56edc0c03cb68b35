import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { quantile, report, sized } from '../../../server/test/drills/scale.ts'
import { ask, createDataFile, type DataFile } from './data-file.ts'
import { pause, type ServerProcess, startServer } from './server-process.ts'

const CLIENTS = sized({ full: 10_000, small: 300 })
const SLOW = CLIENTS / 100
const CHANGES = sized({ full: 30, small: 10 })
const MEMORY_LIMIT = 1024 * 1024 * 1024
const PING = Buffer.from([0x89, 0])
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])
const FILLER = 'x'.repeat(4096)

/** A WebSocket connection that keeps only the end of the received bytes. */
class Reader {
  readonly socket: Socket
  #tail = ''

  constructor({ url }: ServerProcess, { sdkKey }: DataFile, key: string) {
    this.socket = connect(Number(new URL(url).port), '127.0.0.1')
    this.socket.on('error', () => undefined)
    this.socket.on('data', (chunk) => {
      if (chunk.includes(PING)) this.socket.write(PONG)
      this.#tail = (this.#tail + chunk.subarray(-200).toString('latin1')).slice(-200)
    })
    const init = { type: 'init', sdkKey, context: { kind: 'user', key } }
    const payload = Buffer.from(JSON.stringify(init))
    const head = [0x81, 0x80 | 126, payload.length >> 8, payload.length & 255, 0, 0, 0, 0]
    this.socket.write(
      'GET /ws/sdk HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    )
    this.socket.write(Buffer.concat([Buffer.from(head), payload]))
    onTestFinished(() => void this.socket.destroy())
  }

  /** Returns `true` if the last received value ends with this number. */
  has(number: number): boolean {
    return this.#tail.includes(`x ${number}"`)
  }
}

describe('a change for thousands of sockets', () => {
  it('A change reaches thousands of sockets in bounded memory although one percent does not read', async () => {
    const file = await createDataFile()
    const server = await startServer(file.path, { newSockets: 20 * CLIENTS })
    const banner = await createBanner(server, file)
    const readers: Reader[] = []
    while (readers.length < CLIENTS) {
      const next = Array.from({ length: 100 }, (_, client) => {
        return new Reader(server, file, `user-${(readers.length + client) % 1000}`)
      })
      await expect.poll(() => missing(next, 0), { interval: 5 }).toBe(0)
      readers.push(...next)
    }
    const healthy = readers.slice(SLOW)
    for (const { socket } of readers.slice(0, SLOW)) socket.pause()

    const times: number[] = []
    for (let number = 1; number <= CHANGES; number += 1) {
      await banner(number)
      const startedAt = performance.now()
      for (let left = healthy.length; left > 0; ) {
        await pause(5)
        const now = missing(healthy, number)
        for (let arrived = now; arrived < left; arrived += 1) {
          times.push(performance.now() - startedAt)
        }
        left = now
        expect(performance.now() - startedAt, `${left} lack ${number}`).toBeLessThan(60_000)
      }
    }
    const p99 = quantile(times, 0.99)
    const memory = await residentMemory(server, file)
    report(
      `${CLIENTS} sockets, ${SLOW} of them slow, ${CHANGES} changes: p99 of the others ` +
        `${p99.toFixed(0)} ms, ${memory >> 20} MiB resident`,
    )
    expect(times.length).toBe(CHANGES * healthy.length)
    expect(memory).toBeLessThan(MEMORY_LIMIT)
  }, 300_000)
})

function missing(readers: readonly Reader[], number: number): number {
  return readers.reduce((count, reader) => count + (reader.has(number) ? 0 : 1), 0)
}

/**
 * Creates a flag that serves a long text with a number at its end. Returns a function to change it.
 */
async function createBanner({ url }: ServerProcess, { tenant }: DataFile) {
  const textOf = (number: number) => `${FILLER} ${number}`
  const token = tenant.tokens.editor
  const flags = `${url}/projects/${tenant.project.id}/flags`
  const variations = ['main', 'spare'].map((key) => ({ key, value: textOf(0) }))
  const body = { key: 'banner', type: 'string', variations }
  const made = await ask(flags, { method: 'POST', token, body })
  expect(made?.status).toBe(201)
  const variation = `${flags}/${made?.data.id}/variations/${made?.data.variations[0].id}`
  return async (number: number) => {
    const change = await ask(variation, { method: 'PUT', token, body: { value: textOf(number) } })
    expect(change?.status).toBe(200)
  }
}

async function residentMemory({ url }: ServerProcess, { tenant }: DataFile): Promise<number> {
  const headers = { authorization: `Bearer ${tenant.tokens.platform}` }
  const text = await (await fetch(`${url}/metrics`, { headers })).text()
  return Number(/^process_resident_memory_bytes (.*)$/m.exec(text)?.[1])
}
