import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { RunningStandalone } from './running-standalone.ts'

const EACH = 100
const BODY = JSON.stringify({ context: { kind: 'user', key: 'user-1' } })

const repeat = <T>(create: () => Promise<T>) => Promise.all(Array.from({ length: EACH }, create))

it.each(['1', '2'])(
  'SIGTERM ends a server of %s process(es) with silent connections, half heads, polls and sockets before its time limit',
  async (workers) => {
    const server = new RunningStandalone({ FF_WORKERS: workers, FF_METRICS_PUBLIC: '1' })
    onTestFinished(() => server.destroy())
    const url = await server.listening()
    const key = /live\s+(ff_[0-9a-f]{64})/.exec(server.output)?.[1]
    const open = async (bytes = ''): Promise<Socket> => {
      const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' })
      await once(socket, 'connect')
      socket.write(bytes)
      return socket
    }
    const head = `POST /evaluator/poll HTTP/1.1\r\nHost: a\r\nx-api-key: ${key}\r\n`
    const silent = await repeat(open)
    const halfHeads = await repeat(() => open(head.slice(0, -10)))
    const polls = await repeat(() => open(`${head}Content-Length: ${BODY.length}\r\n\r\n${BODY}`))
    const sockets = await repeat(async () => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/sdk`)
      await once(socket, 'open')
      socket.send(JSON.stringify({ type: 'init', sdkKey: key, context: {} }))
      await once(socket, 'message')
      return { closed: once(socket, 'close') }
    })
    const pending = async () => {
      const metrics = await (await fetch(`${url}/metrics`)).text()
      const [, count] = /^ff_live_clients\{.*transport="poll"\} (\d+)$/m.exec(metrics) ?? []
      return Number(count)
    }
    // Each process counts its own polls.
    await expect.poll(pending).toBeGreaterThan(EACH / 2 / Number(workers))
    const answers = polls.map((socket) => text(socket))
    const ends = [...silent, ...halfHeads].map((socket) => text(socket.resume()))
    const startedAt = performance.now()
    server.stop('SIGTERM')
    expect(await server.ended, server.log).toBe(0)
    const durationMs = performance.now() - startedAt
    process.stdout.write(`SIGTERM with ${workers} process(es): ${Math.round(durationMs)} ms\n`)
    for (const answer of await Promise.all(answers)) expect(answer).toContain('HTTP/1.1 200 OK')
    expect(new Set(await Promise.all(ends))).toEqual(new Set(['']))
    for (const { closed } of sockets) expect((await closed)[0]).toBe(1001)
    // The limit of a shutdown is nine seconds, also on a slow machine.
    expect(durationMs).toBeLessThan(8000)
  },
)
