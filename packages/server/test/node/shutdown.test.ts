import { once } from 'node:events'
import { connect } from 'node:net'
import { beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import { toNodeHandler } from '../../src/node/http.ts'
import { createShutdown } from '../../src/node/shutdown.ts'
import { attachWebSocket } from '../../src/node/websocket.ts'
import { allInMemory } from '../capabilities.ts'
import { until } from '../fake-clock.ts'
import { untilPending } from '../live-clients.ts'
import { flagChange, publish, type SeededEnvironment, seed, textFlag } from '../seed.ts'
import { type Listening, listen } from './listening.ts'
import { evaluateRequest, RawConnection } from './raw-connection.ts'

let live: SeededEnvironment
let flags: FlagServer
let listening: Listening
let shutDown: () => Promise<void>
let endSlowRequest: () => void
let hasSlowRequest: boolean

const BODY = JSON.stringify({ context: { kind: 'user', key: 'user-1' } })

beforeEach(async () => {
  const memory = allInMemory()
  ;({ live } = await seed(memory.storage))
  await publish(memory, live.environmentId, flagChange(textFlag('banner', 'hello')))
  flags = createFlagServer({ ...memory, metricsArePublic: true })
  hasSlowRequest = false
  const handler = toNodeHandler(flags)
  listening = await listen((request, response) => {
    if (request.url !== '/slow') return handler(request, response)
    hasSlowRequest = true
    endSlowRequest = () => response.end('done')
  })
  attachWebSocket(listening.server, flags)
  // The time limit must not hide that a connection delays the shutdown.
  shutDown = createShutdown(listening.server, flags, { withinMs: 3_600_000 })
  return async () => {
    await listening.close()
    await flags.close()
  }
})

const open = () => RawConnection.open(listening.port)
const several = <T>(create: () => Promise<T>) => Promise.all(Array.from({ length: 20 }, create))

describe('createShutdown', () => {
  it('Silent connections, half heads, polls and sockets do not delay a shutdown', async () => {
    const silent = await several(open)
    const halfHeads = await several(async () => {
      const connection = await open()
      await connection.send(evaluateRequest(live.sdkKey, BODY))
      await connection.answer()
      await connection.send('POST /evaluator/evaluate HTTP/1.1\r\nHost: a\r\nx-api')
      return connection
    })
    const polls = await several(async () => {
      const connection = await open()
      const head = `POST /evaluator/poll HTTP/1.1\r\nHost: a\r\nx-api-key: ${live.sdkKey}\r\n`
      await connection.send(`${head}Content-Length: ${BODY.length}\r\n\r\n${BODY}`)
      return connection
    })
    const sockets = await several(async () => {
      const socket = new WebSocket(`ws://127.0.0.1:${listening.port}/ws/sdk`)
      const init = { type: 'init', sdkKey: live.sdkKey, context: {} }
      socket.on('open', () => socket.send(JSON.stringify(init)))
      await once(socket, 'message')
      return { closed: once(socket, 'close') }
    })
    await untilPending(flags, 20)
    await shutDown()
    for (const connection of [...silent, ...halfHeads])
      expect(await connection.answer()).toBeUndefined()
    for (const poll of polls) expect((await poll.answer())?.text).toBe('{"banner":"hello"}')
    for (const { closed } of sockets) expect((await closed)[0]).toBe(1001)
    expect(listening.server.listening).toBe(false)
    await expect(open()).rejects.toThrow('ECONNREFUSED')
  })

  it('A request in progress is awaited, also one whose body has not arrived completely', async () => {
    const slow = await open()
    await slow.send('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(() => hasSlowRequest)
    const half = await open()
    const request = evaluateRequest(live.sdkKey, BODY)
    const arrived = once(listening.server, 'request')
    await half.send(request.subarray(0, -3))
    await arrived
    let isDown = false
    const down = shutDown().then(() => {
      isDown = true
    })
    await half.send(request.subarray(-3))
    expect((await half.answer())?.text).toBe('{"banner":"hello"}')
    expect(isDown).toBe(false)
    endSlowRequest()
    expect((await slow.answer())?.status).toBe(200)
    await down
  })

  it('A request that does not end in time does not delay a shutdown for longer', async () => {
    const brief = createShutdown(listening.server, flags, { withinMs: 50 })
    const stuck = await open()
    await stuck.send('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(() => hasSlowRequest)
    await brief()
    expect(await stuck.answer()).toBeUndefined()
  })

  it('A connection whose upgrade was declined is closed like others', async () => {
    const connection = await open()
    const headers = ['Connection: Upgrade', 'Upgrade: h2c']
    await connection.send(evaluateRequest(live.sdkKey, BODY, headers))
    expect((await connection.answer())?.status).toBe(200)
    await shutDown()
    expect(await connection.answer()).toBeUndefined()
  })

  it('Another call returns the same promise', async () => {
    const down = shutDown()
    expect(shutDown()).toBe(down)
    await down
  })

  it('A connection that opens at the moment of the shutdown does not delay it', async () => {
    const socket = connect({ port: listening.port, host: '127.0.0.1' })
    socket.on('error', () => undefined)
    const closed = new Promise((resolve) => socket.on('close', resolve))
    await Promise.all([closed, shutDown()])
  })
})
