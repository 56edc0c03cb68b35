import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { beforeEach, describe, expect, it } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import { toNodeHandler } from '../../src/node/http.ts'
import { allInMemory } from '../capabilities.ts'
import { settle } from '../fake-clock.ts'
import { liveClients, untilPending } from '../live-clients.ts'
import { flagChange, publish, type SeededEnvironment, seed, textFlag } from '../seed.ts'
import { listen } from './listening.ts'
import { RawConnection } from './raw-connection.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const POLLS = 100
const ATTRIBUTES = Object.fromEntries(
  Array.from({ length: 1900 }, (_, index) => [`attribute-${index}`, `value ${index}`]),
)
const CONTEXT_LENGTH = JSON.stringify(ATTRIBUTES).length

let live: SeededEnvironment
let flags: FlagServer
let port: number

beforeEach(async () => {
  const memory = allInMemory()
  ;({ live } = await seed(memory.storage))
  await publish(memory, live.environmentId, flagChange(textFlag('banner', 'hello')))
  flags = createFlagServer({ ...memory, metricsArePublic: true })
  await flags.start()
  const listening = await listen(toNodeHandler(flags))
  port = listening.port
  return async () => {
    await flags.close()
    await listening.close()
  }
})

async function metric(name: string): Promise<number> {
  const text = await (await flags.fetch(new Request('http://flags.test/metrics'))).text()
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1],
  )
}

/** Sends a poll with a body that arrives in two parts. */
async function sendPoll(key: string): Promise<RawConnection> {
  const context = { kind: 'user', key, ...ATTRIBUTES }
  const body = Buffer.from(JSON.stringify({ context }))
  const connection = await RawConnection.open(port)
  await connection.send(
    `POST /evaluator/poll HTTP/1.1\r\nHost: a\r\nx-api-key: ${live.sdkKey}\r\n` +
      `Content-Length: ${body.byteLength}\r\n\r\n`,
  )
  await settle()
  await connection.send(body.subarray(0, 30_000))
  await settle()
  await connection.send(body.subarray(30_000))
  return connection
}

async function sendPolls(count: number, name: string): Promise<RawConnection[]> {
  const before = await liveClients(flags, 'poll')
  const connections: RawConnection[] = []
  for (let index = 0; index < count; index += 1)
    connections.push(await sendPoll(`${name}-${index}`))
  await untilPending(flags, before + count)
  return connections
}

/**
 * Returns the used bytes after garbage collection. Several collections are needed, because sockets
 * release their buffers only after the first one.
 */
async function usedMemory() {
  for (let time = 0; time < 3; time += 1) {
    collectGarbage()
    await settle()
  }
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return { buffers: arrayBuffers, heap: heapUsed }
}

describe('Pending polls over node:http', () => {
  it('A pending poll keeps the text of its context in memory, but not its objects or the request body', async () => {
    const connections = await sendPolls(5, 'warm')
    const before = await usedMemory()
    connections.push(...(await sendPolls(POLLS, 'user')))
    const after = await usedMemory()
    const text = POLLS * CONTEXT_LENGTH
    expect(await metric('ff_held_context_bytes')).toBeGreaterThan(text)
    expect(after.heap - before.heap).toBeLessThan(1.5 * text)
    expect(after.buffers - before.buffers).toBeLessThan(0.5 * text)
    for (const connection of connections) connection.close()
    const held = () => metric('ff_held_context_bytes')
    await expect.poll(held, { interval: 20 }).toBe(0)
  })
})
