import { afterEach, describe, expect, it } from 'vitest'
import type { RateLimiter, RateWindow } from '../ports/rate-limiter.ts'
import { newId } from './samples/sample-fields.ts'

/** A rate limiter that has granted no requests. */
export interface RateLimiterUnderTest {
  readonly rateLimiter: RateLimiter
  /** Closes the rate limiter and releases its resources. */
  readonly close: () => Promise<void>
}

const MINUTE_MS = 60_000

/**
 * Defines the vitest tests that every rate limiter must pass. Each call of `create` returns a
 * limiter that has granted no requests.
 */
export function rateLimiterContract(
  name: string,
  create: () => Promise<RateLimiterUnderTest>,
): void {
  describe(`the rate limiter contract: ${name}`, () => {
    const opened: RateLimiterUnderTest[] = []
    const open = async () => {
      const underTest = await create()
      opened.push(underTest)
      return underTest.rateLimiter
    }

    afterEach(async () => {
      for (const { close } of opened.splice(0)) await close()
    })

    describeOneWindow(open)
    describeSeveralWindows(open)
  })
}

function describeOneWindow(open: () => Promise<RateLimiter>): void {
  it('A rate limit window grants no more requests than its limit', async () => {
    const limiter = await open()
    const key = newId()
    const window = present(10)
    expect(await limiter.lease(key, window, 4)).toBe(4)
    expect(await limiter.lease(key, window, 4)).toBe(4)
    expect(await limiter.lease(key, window, 4)).toBe(2)
    expect(await limiter.lease(key, window, 4)).toBe(0)
    expect(await limiter.lease(key, window, 1)).toBe(0)
  })

  it('A lease of more requests than the rate limit is granted up to the limit', async () => {
    const limiter = await open()
    expect(await limiter.lease(newId(), present(10), 1000)).toBe(10)
  })

  it('Concurrent leases are granted exactly the rate limit in total', async () => {
    const limiter = await open()
    const key = newId()
    const window = present(100)
    const grants = await Promise.all(
      Array.from({ length: 40 }, () => limiter.lease(key, window, 3)),
    )
    expect(grants.reduce((sum, grant) => sum + grant, 0)).toBe(100)
  })

  it('Lowering a rate limit within a window does not revoke granted requests', async () => {
    const limiter = await open()
    const key = newId()
    const window = present(10)
    expect(await limiter.lease(key, window, 8)).toBe(8)
    expect(await limiter.lease(key, { ...window, limit: 5 }, 1)).toBe(0)
    expect(await limiter.lease(key, window, 5)).toBe(2)
  })
}

function describeSeveralWindows(open: () => Promise<RateLimiter>): void {
  it('Each key has its own rate limit', async () => {
    const limiter = await open()
    const first = newId()
    const second = '__proto__'
    const window = present(5)
    expect(await limiter.lease(first, window, 5)).toBe(5)
    expect(await limiter.lease(second, window, 5)).toBe(5)
    expect(await limiter.lease(first, window, 1)).toBe(0)
  })

  it('The next rate limit window grants its full limit', async () => {
    const limiter = await open()
    const key = newId()
    const window = present(5)
    expect(await limiter.lease(key, window, 5)).toBe(5)
    const next = { ...window, startedAt: window.startedAt + MINUTE_MS }
    expect(await limiter.lease(key, next, 5)).toBe(5)
    expect(await limiter.lease(key, next, 1)).toBe(0)
  })

  it('A rate limiter grants requests after the clock has been set back', async () => {
    const limiter = await open()
    const key = newId()
    const window = present(5)
    expect(await limiter.lease(key, window, 5)).toBe(5)
    const earlier = { ...window, startedAt: window.startedAt - 60 * MINUTE_MS }
    expect(await limiter.lease(key, earlier, 5)).toBe(5)
  })
}

/**
 * Returns the window of the present minute. A test calls it once, because the minute can end during
 * the test.
 */
function present(limit: number): RateWindow {
  const startedAt = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS
  return { limit, startedAt, lengthMs: MINUTE_MS }
}
