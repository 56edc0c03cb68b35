import { describe, expect, it } from 'vitest'
import { MemoryRateLimiter } from './memory-rate-limiter.ts'

const LENGTH_MS = 60_000

describe('MemoryRateLimiter', () => {
  it('The memory rate limiter discards a window after a later window has begun', async () => {
    const limiter = new MemoryRateLimiter()
    const first = { limit: 2, startedAt: 0, lengthMs: LENGTH_MS }
    expect(await limiter.lease('key', first, 2)).toBe(2)
    expect(await limiter.lease('key', first, 1)).toBe(0)
    await limiter.lease('another key', { ...first, startedAt: LENGTH_MS }, 1)
    expect(await limiter.lease('key', first, 1)).toBe(1)
  })

  it('The memory rate limiter counts windows of different lengths separately', async () => {
    const limiter = new MemoryRateLimiter()
    const short = { limit: 1, startedAt: 0, lengthMs: 1000 }
    const long = { limit: 1, startedAt: 0, lengthMs: LENGTH_MS }
    expect(await limiter.lease('key', short, 1)).toBe(1)
    expect(await limiter.lease('key', long, 1)).toBe(1)
    await limiter.lease('key', { ...short, startedAt: 1000 }, 1)
    expect(await limiter.lease('key', long, 1)).toBe(0)
  })
})
