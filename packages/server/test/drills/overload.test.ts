import { afterEach, describe, expect, it } from 'vitest'
import { createFlagServer } from '../../src/flag-server.ts'
import { toNodeHandler } from '../../src/node/http.ts'
import { allInMemory, breakable } from '../capabilities.ts'
import { FakeClock } from '../fake-clock.ts'
import { listen } from '../node/listening.ts'
import { evaluateRequest, type RawAnswer, RawConnection } from '../node/raw-connection.ts'
import { addSdkKey, flagChange, publish, seed, textFlag } from '../seed.ts'
import { sized } from './scale.ts'

const CONNECTIONS = 16
const UNKNOWN_KEYS = sized({ full: 50_000, small: 1600 })
const TIMEOUT_MS = sized({ full: 300_000, small: 60_000 })
const BODY = JSON.stringify({ context: { kind: 'user', key: 'user-1' } })

const closing: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Creates a server with one flag, a key with a rate limit, and connections to the server. */
async function createScene(rateLimit: number) {
  const clock = new FakeClock()
  const memory = allInMemory()
  const { storage, calls } = breakable(memory.storage)
  const { live } = await seed(memory.storage)
  await publish(memory, live.environmentId, flagChange(textFlag('banner', 'hello')))
  const { sdkKey } = await addSdkKey(memory.storage, live, { rateLimit })
  const flags = createFlagServer({ ...memory, storage, clock })
  const { port, close } = await listen(toNodeHandler(flags))
  const connections = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => RawConnection.open(port)),
  )
  closing.push(
    () => flags.close(),
    close,
    () => {
      for (const connection of connections) connection.close()
    },
  )
  return { clock, calls, sdkKey, connections }
}

/**
 * Sends requests over all connections concurrently, `times` on each. Returns the replies in order
 * of arrival.
 */
async function sendAll(
  connections: readonly RawConnection[],
  times: number,
  requestOf: (connection: number, time: number) => Buffer,
): Promise<RawAnswer[]> {
  const answers: RawAnswer[] = []
  await Promise.all(
    connections.map(async (connection, index) => {
      for (let time = 0; time < times; time += 1) {
        await connection.send(requestOf(index, time))
        const answer = await connection.answer()
        if (answer === undefined) throw new Error('A connection was closed')
        answers.push(answer)
      }
    }),
  )
  return answers
}

const countOf = (answers: readonly RawAnswer[], status: number) => {
  return answers.filter((answer) => answer.status === status).length
}

describe('A key that is used beyond its rate limit', { timeout: TIMEOUT_MS }, () => {
  it('A key is granted exactly its limit of requests, for any forwarded addresses, and again after the reset', async () => {
    const limit = 100
    const { clock, sdkKey, connections } = await createScene(limit)
    const claiming = (connection: number, time: number) => {
      const address = `10.0.${connection}.${time}`
      return evaluateRequest(sdkKey, BODY, [
        `X-Forwarded-For: ${address}`,
        `Forwarded: for=${address}`,
      ])
    }
    const answers = await sendAll(connections, 10, claiming)
    expect(countOf(answers, 200)).toBe(limit)
    expect(countOf(answers, 429)).toBe(60)
    for (const { status, headers, text } of answers) {
      expect(headers.get('x-ratelimit-limit')).toBe(String(limit))
      if (status !== 429) continue
      expect(headers.get('x-ratelimit-remaining')).toBe('0')
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      expect(JSON.parse(text)).toEqual({ error: expect.any(String), statusCode: 429 })
    }
    const reset = Number(answers[0]?.headers.get('x-ratelimit-reset')) * 1000
    await clock.advance(reset - clock.now() - 1)
    expect(countOf(await sendAll(connections, 1, claiming), 429)).toBe(CONNECTIONS)
    await clock.advance(1)
    expect(countOf(await sendAll(connections, 1, claiming), 200)).toBe(CONNECTIONS)
  })
})

describe('A flood of unknown keys', { timeout: TIMEOUT_MS }, () => {
  it('A flood of unknown keys does not query the store, and valid keys are served', async () => {
    const { calls, sdkKey, connections } = await createScene(1_000_000)
    await sendAll(connections, 1, () => evaluateRequest(sdkKey, BODY))
    const before = calls.length
    const [good = [], bad = []] = await Promise.all([
      sendAll(connections.slice(0, 4), 50, () => evaluateRequest(sdkKey, BODY)),
      sendAll(connections.slice(4), Math.ceil(UNKNOWN_KEYS / 12), (connection, time) => {
        const digits = `${connection}f${time}`.padStart(64, '0')
        return evaluateRequest(`ff_${digits}`, BODY)
      }),
    ])
    expect(countOf(good, 200)).toBe(good.length)
    expect(countOf(bad, 401)).toBe(bad.length)
    // The time is fixed, and the keys are read again at most once a second.
    expect(calls.slice(before).filter((call) => call === 'findVersions').length).toBeLessThan(2)
    expect(calls.length - before).toBeLessThan(5)
  })
})
