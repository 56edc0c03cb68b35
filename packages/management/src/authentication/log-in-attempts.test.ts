import { isFlagError } from '@ff/core'
import type { RateLimiter } from '@ff/storage'
import { expect, it } from 'vitest'
import { FakeClock, settle } from '../../../server/test/fake-clock.ts'
import { MemoryRateLimiter } from '../../../storage/src/memory/memory-rate-limiter.ts'
import { type LogInAttempt, LogInAttempts } from './log-in-attempts.ts'

const codeOf = (error: unknown) => (isFlagError(error) ? error.code : error)
const fail = (attempts: LogInAttempts, attempt: LogInAttempt) =>
  attempts.run(attempt, async () => false).catch(codeOf)
const succeed = (attempts: LogInAttempts, attempt: LogInAttempt) =>
  attempts.run(attempt, async () => true).catch(codeOf)
const create = (rateLimiter: RateLimiter = new MemoryRateLimiter()) =>
  new LogInAttempts({ clock: new FakeClock(), rateLimiter })

const unknown = { network: '192.0.2.1', account: 'ada@acme.test', device: undefined }
const known = { ...unknown, device: 'a known device' }

it('Known devices are not refused even if all tables are full', async () => {
  const attempts = create()
  for (let n = 0; n < 20_001; n += 1) {
    await fail(attempts, { ...known, device: `device ${n}` })
    await fail(attempts, { network: `10.0.${n}`, account: undefined, device: undefined })
  }
  expect(await succeed(attempts, unknown)).toBe('RATE_LIMITED')
  expect(await succeed(attempts, known)).toBe(true)
})

it('A network that tries any number of accounts does not block other networks', async () => {
  const attempts = create()
  const results: unknown[] = []
  for (let n = 0; n < 30_000; n += 1) {
    results.push(await fail(attempts, { ...unknown, account: `user${n}@acme.test` }))
  }
  expect(results.filter((result) => result === false)).toHaveLength(50)
  expect(await succeed(attempts, { ...unknown, network: '192.0.2.2' })).toBe(true)
})

it('Clients without a known network count as one network', async () => {
  const attempts = create()
  const unnamed = { ...unknown, network: undefined }
  for (let n = 0; n < 10; n += 1) expect(await fail(attempts, unnamed)).toBe(false)
  expect(await succeed(attempts, unnamed)).toBe('RATE_LIMITED')
  expect(await succeed(attempts, unknown)).toBe(true)
})

it('An attempt counts if it throws UNAUTHENTICATED, but not if it throws another error', async () => {
  const attempts = create()
  const throwing = (error: Error) =>
    attempts.run(known, () => Promise.reject(error)).catch(() => undefined)
  for (let n = 0; n < 20; n += 1) await throwing(new Error('the store is away'))
  for (let n = 0; n < 10; n += 1) expect(await fail(attempts, known)).toBe(false)
  expect(await fail(attempts, known)).toBe('RATE_LIMITED')
})

it('An attempt without an account counts for its network only, and not as a concurrent attempt', async () => {
  const attempts = create()
  const waiting: (() => void)[] = []
  const wait = () => new Promise<boolean>((resolve) => waiting.push(() => resolve(false)))
  const provider = { ...unknown, account: undefined }
  const results = Array.from({ length: 60 }, () => attempts.run(provider, wait).catch(codeOf))
  expect(waiting).toHaveLength(50)
  for (const end of waiting) end()
  expect((await Promise.all(results)).filter((result) => result === false)).toHaveLength(50)
  expect(await succeed(attempts, unknown)).toBe('RATE_LIMITED')
  expect(await succeed(attempts, { ...unknown, network: '192.0.2.2' })).toBe(true)
})

it('Instances that share a rate limiter count failed attempts together', async () => {
  const rateLimiter = new MemoryRateLimiter()
  const instances = [create(rateLimiter), create(rateLimiter), create(rateLimiter)]
  const results: unknown[] = []
  for (let n = 0; n < 30; n += 1) {
    for (const attempts of instances) results.push(await fail(attempts, unknown))
  }
  // Ten attempts are permitted. Each instance learns from a further attempt that none is left.
  expect(results.filter((result) => result === false)).toHaveLength(13)
  for (const attempts of instances) {
    expect(await succeed(attempts, unknown)).toBe('RATE_LIMITED')
    expect(await succeed(attempts, { ...unknown, account: 'bob@acme.test' })).toBe(true)
  }
})

it.each([
  ['fails', () => Promise.reject(new Error('away'))],
  ['does not respond', () => new Promise<number>(() => undefined)],
])('An instance limits failed attempts alone if the rate limiter %s', async (_name, lease) => {
  const clock = new FakeClock()
  const attempts = new LogInAttempts({ clock, rateLimiter: { lease } })
  for (let n = 0; n < 10; n += 1) {
    const failed = fail(attempts, unknown)
    await settle()
    await clock.advance(250)
    expect(await failed).toBe(false)
  }
  expect(await succeed(attempts, unknown)).toBe('RATE_LIMITED')
})
