import { asEventsRequest } from '@ff/protocol/sdk'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { flagChange, textFlag } from '../../../server/test/seed.ts'
import { countsOf } from '../../../server/test/usage/usage-scene.ts'
import type { Fetch } from '../../src/index.ts'
import { MAX_WAITING } from '../../src/local/usage-counts.ts'
import type { LocalClient } from '../../src/local.ts'
import {
  createLocalScene,
  type LocalScene,
  untilCurrent,
  user,
  type Values,
} from './local-scene.ts'

const EVENTS = '/evaluator/events'
const REFUSED = 'Evaluations were not reported, because the server refused the report'
const WAITING = 'Evaluations were not reported, because too many reports wait'
const CLOSED = 'Evaluations were not reported, because the client is closed'
const STATUSES = Array.from({ length: 400 }, (_, index) => 200 + index)

/** A response without a body, which some statuses require. */
const answer = (status: number, headers = {}) => new Response(null, { status, headers })
/** Like `answer`, but with a body in JSON where the status permits it. */
const jsonAnswer = (status: number) =>
  [204, 205, 304].includes(status) ? answer(status) : new Response('{}', { status })

let scene: LocalScene
/** The bodies of all reports. */
let bodies: string[]

beforeEach(async () => {
  scene = await createLocalScene()
  bodies = []
  await scene.publish(flagChange(textFlag('banner', 'hello')))
})

afterEach(() => scene.close())

/**
 * Creates a client whose reports receive the responses of `respond`. A report without such a
 * response reaches the server.
 */
async function opened(
  respond: (deliver: () => ReturnType<Fetch>) => ReturnType<Fetch> | undefined,
): Promise<LocalClient<Values>> {
  const local = scene.create({
    fetch: (url, init) => {
      const deliver = () => scene.network.fetch(url, init)
      if (!url.endsWith(EVENTS)) return deliver()
      bodies.push(String(init.body))
      return respond(deliver) ?? deliver()
    },
  })
  await untilCurrent(scene, local)
  return local
}

/** Returns the first responses, and then none. */
function scripted(...responses: readonly (() => Response)[]) {
  const left = [...responses]
  return async (deliver: () => ReturnType<Fetch>) => left.shift()?.() ?? deliver()
}

const counted = async () => {
  // The server writes its counts within a minute.
  await scene.clock.advance(60_000)
  const { 'sdk STATIC banner-hello': count } = await countsOf(scene, 'flag-banner')
  return count
}

const idOf = (body: string) => asEventsRequest(JSON.parse(body))?.id
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0)
const evaluationsIn = (body: string) =>
  sumOf(asEventsRequest(JSON.parse(body))?.events.map(({ count }) => count) ?? [])

/** Evaluates the flag a number of times, and waits until the report is sent. */
async function evaluate(local: LocalClient<Values>, times: number): Promise<void> {
  for (let index = 0; index < times; index += 1) local.value('banner', user)
  await scene.clock.advance(10_000)
}

/** Advances the clock in steps until no report was sent in the last ten minutes. */
async function untilSettled(): Promise<void> {
  for (let before = -1; before < bodies.length; ) {
    before = bodies.length
    await scene.clock.advance(600_000)
  }
}

describe('repeated reports', () => {
  it('Two answers with status 503 lose no evaluations.', async () => {
    const local = await opened(
      scripted(
        () => answer(503),
        () => answer(503),
      ),
    )
    await evaluate(local, 100)
    await untilSettled()
    expect(bodies).toHaveLength(3)
    expect(new Set(bodies).size).toBe(1)
    expect(await counted()).toBe(100)
    expect(scene.errors).toEqual([])
  })

  it('A lost answer makes the server count no evaluation twice.', async () => {
    let lost = 3
    const local = await opened(async (deliver) => {
      const response = await deliver()
      lost -= 1
      if (lost >= 0) throw new Error('connection reset')
      return response
    })
    await evaluate(local, 100)
    await untilSettled()
    expect(bodies).toHaveLength(4)
    expect(await counted()).toBe(100)
    expect(scene.errors).toEqual([])
  })

  it('A report is repeated with its body unless its status is 200, 400 or 413, and later reports have other ids.', async () => {
    const left = [...STATUSES]
    const attempts: number[] = []
    let isFirst = true
    const local = await opened(async (deliver) => {
      if (isFirst) {
        attempts.push(0)
        const status = left.shift() ?? 200
        isFirst = [200, 400, 413].includes(status)
        attempts[attempts.length - 1] = isFirst ? 1 : 2
        return jsonAnswer(status)
      }
      isFirst = true
      return deliver()
    })
    for (const status of STATUSES) {
      await evaluate(local, 1)
      // A repetition after 401 or 403 waits for 150 seconds.
      await scene.clock.advance([401, 403].includes(status) ? 200_000 : 2000)
    }
    const once = STATUSES.filter((_, index) => attempts[index] === 1)
    expect(once).toEqual([200, 400, 413])
    expect(bodies).toHaveLength(2 * STATUSES.length - 3)
    expect(new Set(bodies).size).toBe(STATUSES.length)
    expect(new Set(bodies.map(idOf)).size).toBe(STATUSES.length)
    // The scripted answer with 200 has not reached the server.
    expect(await counted()).toBe(STATUSES.length - 3)
    expect(scene.errors).toMatchObject([400, 413].map(() => ({ message: REFUSED, evaluations: 1 })))
  })

  it('A report that the server has counted is counted once, whatever status a proxy returns instead.', async () => {
    const left = [...STATUSES]
    let isFirst = true
    const local = await opened(async (deliver) => {
      const response = await deliver()
      const status = isFirst ? (left.shift() ?? 200) : 200
      isFirst = [200, 400, 413].includes(status)
      return status === 200 ? response : jsonAnswer(status)
    })
    for (const status of STATUSES) {
      await evaluate(local, 1)
      await scene.clock.advance([401, 403].includes(status) ? 200_000 : 2000)
    }
    expect(await counted()).toBe(STATUSES.length)
  })

  it('A report without a response, or with a body that is not JSON, is repeated until the server responds.', async () => {
    const outcomes = [
      () => Promise.reject(new Error('connection refused')),
      () => new Promise<never>(() => {}),
      async () => new Response('<html></html>'),
    ]
    let attempt = 0
    const local = await opened(() => {
      attempt += 1
      return attempt <= 30 ? outcomes[attempt % 3]?.() : undefined
    })
    await evaluate(local, 7)
    await untilSettled()
    expect(bodies).toHaveLength(31)
    expect(new Set(bodies).size).toBe(1)
    expect(await counted()).toBe(7)
    // The cause is reported once, after six failures in succession.
    expect(scene.errors.map(String)).toEqual([
      'Error: Evaluations cannot be reported to http://flags.test: cannot reach',
    ])
  })

  it('Without crypto, each report has an id of its own.', async () => {
    const original = Object.getOwnPropertyDescriptor(globalThis, 'crypto') ?? {}
    Object.defineProperty(globalThis, 'crypto', { value: undefined, configurable: true })
    try {
      const local = await opened(() => Promise.resolve(jsonAnswer(200)))
      for (let report = 0; report < 3; report += 1) await evaluate(local, 1)
    } finally {
      Object.defineProperty(globalThis, 'crypto', original)
    }
    const ids = bodies.map(idOf)
    expect(ids.map((id) => typeof id)).toEqual(['string', 'string', 'string'])
    expect(new Set(ids).size).toBe(3)
  })

  it('While all answers are 503, a limited number of events waits, and the number of the oldest is reported.', async () => {
    const keys = Array.from({ length: 2500 }, (_, index) => `flag-${index}`)
    await scene.publish(...keys.map((key) => flagChange(textFlag(key, 'x'))))
    let isBroken = true
    const local = await opened(() => {
      return isBroken ? Promise.resolve(answer(503)) : Promise.resolve(jsonAnswer(200))
    })
    const rounds = 8
    for (let round = 0; round < rounds; round += 1) {
      for (const key of keys) local.value(key as never, user)
      await scene.clock.advance(120_000)
    }
    const [cause, ...dropped] = scene.errors.splice(0) as (Error & { evaluations: number })[]
    expect(cause?.message).toBe('Evaluations cannot be reported to http://flags.test: 503')
    expect(new Set(dropped.map(({ message }) => message))).toEqual(new Set([WAITING]))
    isBroken = false
    const first = bodies.length
    await scene.clock.advance(60_000)
    await local.close()
    const sent = bodies.slice(first).map(evaluationsIn)
    const total = sumOf(sent)
    // Each event has one evaluation.
    expect(total).toBeLessThanOrEqual(MAX_WAITING + (sent[0] ?? 0))
    expect(total).toBeGreaterThanOrEqual(MAX_WAITING)
    const lost = sumOf(dropped.map(({ evaluations }) => evaluations))
    expect(total + lost).toBe(rounds * keys.length)
    // The first report was not dropped, because its events no longer wait.
    expect(bodies[first]).toBe(bodies[0])
    expect(scene.errors).toEqual([])
  })
})

describe('the last report', () => {
  /** Closes the client. Returns the time that this takes, at most a minute. */
  async function closingTime(local: LocalClient<Values>): Promise<number> {
    const startedAt = scene.clock.now()
    let endedAt: number | undefined
    void local.close().then(() => {
      endedAt = scene.clock.now()
    })
    while (endedAt === undefined && scene.clock.now() < startedAt + 60_000) {
      await scene.clock.advance(50)
    }
    return (endedAt ?? Infinity) - startedAt
  }

  it('The last report is repeated after answers with status 503.', async () => {
    const local = await opened(
      scripted(
        () => answer(503),
        () => answer(503),
      ),
    )
    for (let index = 0; index < 100; index += 1) local.value('banner', user)
    expect(await closingTime(local)).toBeLessThan(5000)
    expect(bodies).toHaveLength(3)
    expect(await counted()).toBe(100)
    expect(scene.errors).toEqual([])
  })

  it('The last report is repeated soon, even if many earlier attempts have failed.', async () => {
    let isBroken = true
    const local = await opened(() => {
      return isBroken ? Promise.resolve(answer(503)) : undefined
    })
    await evaluate(local, 100)
    await scene.clock.advance(600_000)
    const before = bodies.length
    const closing = closingTime(local)
    await scene.clock.advance(0)
    expect(bodies).toHaveLength(before + 1)
    isBroken = false
    expect(await closing).toBeLessThan(2000)
    expect(await counted()).toBe(100)
  })

  it('The last report is abandoned within five seconds if all answers are 503.', async () => {
    const local = await opened(() => Promise.resolve(answer(503)))
    for (let index = 0; index < 100; index += 1) local.value('banner', user)
    expect(await closingTime(local)).toBeLessThanOrEqual(5050)
    expect(bodies.length).toBeGreaterThanOrEqual(3)
    expect(scene.errors).toMatchObject([{ message: CLOSED, evaluations: 100 }])
    const { length } = bodies
    await scene.clock.advance(600_000)
    expect(bodies).toHaveLength(length)
  })

  it.each([
    ['there is no answer', () => Promise.reject(new Error('connection refused'))],
    ['the SDK key is refused', async () => answer(401)],
    ['the SDK key has no access', async () => answer(403)],
    ['the retry hint is too long', async () => answer(503, { 'retry-after': '5' })],
  ])('The last report is abandoned at once if %s.', async (_case, respond) => {
    const local = await opened(respond)
    local.value('banner', user)
    expect(await closingTime(local)).toBeLessThanOrEqual(50)
    expect(bodies).toHaveLength(1)
    expect(scene.errors).toMatchObject([{ message: CLOSED, evaluations: 1 }])
  })

  it('The last report respects a short retry hint.', async () => {
    const local = await opened(scripted(() => answer(429, { 'retry-after': '3' })))
    local.value('banner', user)
    const duration = await closingTime(local)
    expect(duration).toBeGreaterThanOrEqual(3000)
    expect(duration).toBeLessThan(5000)
    expect(await counted()).toBe(1)
  })

  it('A report that waits for its repetition is sent by close, and so are the evaluations after it.', async () => {
    const local = await opened(scripted(() => answer(503, { 'retry-after': '3000' })))
    await evaluate(local, 3)
    await evaluate(local, 4)
    expect(bodies).toHaveLength(1)
    expect(await closingTime(local)).toBeLessThan(1000)
    expect(bodies.map(evaluationsIn)).toEqual([3, 3, 4])
    expect(await counted()).toBe(7)
  })

  it('The last report is sent once if a regular report is due while it has no answer.', async () => {
    const local = await opened(() => new Promise(() => {}))
    local.value('banner', user)
    await scene.clock.advance(8000)
    expect(await closingTime(local)).toBeLessThanOrEqual(5050)
    expect(bodies).toHaveLength(1)
    expect(scene.errors).toMatchObject([{ message: CLOSED, evaluations: 1 }])
  })
})
