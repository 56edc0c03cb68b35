import { afterEach, describe, expect, it } from 'vitest'
import type { RateLimiter, RateWindow } from '../ports/rate-limiter.ts'
import { newId } from './samples/sample-fields.ts'

export interface RateLimiterUnderTest {
  readonly rateLimiter: RateLimiter
  readonly close: () => Promise<void>
}

const MINUTE_MS = 60_000

/** What every rate limiter must do. `create` answers a limiter that has granted nothing. */
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
  it('a window grants its limit and no more', async () => {
    const limiter = await open()
    const key = newId()
    expect(await limiter.lease(key, present(10), 4)).toBe(4)
    expect(await limiter.lease(key, present(10), 4)).toBe(4)
    expect(await limiter.lease(key, present(10), 4)).toBe(2)
    expect(await limiter.lease(key, present(10), 4)).toBe(0)
    expect(await limiter.lease(key, present(10), 1)).toBe(0)
  })

  it('more than the limit is granted in part', async () => {
    const limiter = await open()
    expect(await limiter.lease(newId(), present(10), 1000)).toBe(10)
  })

  it('many leases at once are granted the limit together', async () => {
    const limiter = await open()
    const key = newId()
    const grants = await Promise.all(
      Array.from({ length: 40 }, () => limiter.lease(key, present(100), 3)),
    )
    expect(grants.reduce((sum, grant) => sum + grant, 0)).toBe(100)
  })

  it('a limit that is lowered within the window takes nothing back', async () => {
    const limiter = await open()
    const key = newId()
    expect(await limiter.lease(key, present(10), 8)).toBe(8)
    expect(await limiter.lease(key, present(5), 1)).toBe(0)
    expect(await limiter.lease(key, present(10), 5)).toBe(2)
  })
}

function describeSeveralWindows(open: () => Promise<RateLimiter>): void {
  it('keys have nothing to do with one another', async () => {
    const limiter = await open()
    const [first, second] = [newId(), '__proto__']
    expect(await limiter.lease(first, present(5), 5)).toBe(5)
    expect(await limiter.lease(second, present(5), 5)).toBe(5)
    expect(await limiter.lease(first, present(5), 1)).toBe(0)
  })

  it('the next window begins afresh', async () => {
    const limiter = await open()
    const key = newId()
    expect(await limiter.lease(key, present(5), 5)).toBe(5)
    const next = { ...present(5), startedAt: present(5).startedAt + MINUTE_MS }
    expect(await limiter.lease(key, next, 5)).toBe(5)
    expect(await limiter.lease(key, next, 1)).toBe(0)
  })

  it('when the clock is set back, requests are granted still', async () => {
    const limiter = await open()
    const key = newId()
    expect(await limiter.lease(key, present(5), 5)).toBe(5)
    const earlier = { ...present(5), startedAt: present(5).startedAt - 60 * MINUTE_MS }
    expect(await limiter.lease(key, earlier, 5)).toBe(5)
  })
}

function present(limit: number): RateWindow {
  const startedAt = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS
  return { limit, startedAt, lengthMs: MINUTE_MS }
}
