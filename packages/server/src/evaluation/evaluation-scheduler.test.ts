import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../test/fake-clock.ts'
import type { EnvironmentScope } from '../access/sdk-keys.ts'
import { EvaluationScheduler } from './evaluation-scheduler.ts'

/** A scheduler over a clock that work moves on. */
function scene() {
  const clock = new FakeClock()
  const charged: (readonly [key: string, requests: number])[] = []
  const limiter = {
    charge: ({ keyId }: EnvironmentScope, requests: number) => void charged.push([keyId, requests]),
  }
  const scheduler = new EvaluationScheduler({ clock, limiter })
  const done: string[] = []
  /** Evaluates for a key, for so many milliseconds. */
  const run = (keyId: string, ms: number, name = keyId) => {
    const scope = { ...{ keyId, environmentId: 'e', rateLimit: 6000 }, kind: 'client' } as const
    return scheduler.run(scope as EnvironmentScope, () => {
      clock.set(clock.now() + ms)
      done.push(name)
      return name
    })
  }
  return { scheduler, charged, done, run }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('the scheduler of evaluations', () => {
  it('runs what takes at most 2 ms at once, and counts it as one request', () => {
    const { run, charged } = scene()
    for (let count = 0; count < 1000; count += 1) expect(run('a', 2)).toBe('a')
    expect(charged).toEqual([])
  })

  it('counts a request once for each started 2 ms that its evaluation takes', async () => {
    const { run, charged } = scene()
    run('a', 2.5)
    await run('a', 20)
    await run('b', 20.5)
    expect(charged).toEqual([
      ['a', 1],
      ['a', 9],
      ['b', 10],
    ])
  })

  it('runs one request in a turn of the event loop for keys with slow evaluations, in turns', async () => {
    const { run, done } = scene()
    run('a', 10, 'a1')
    run('b', 10, 'b1')
    const waiting = ['a2', 'a3', 'b2', 'a4'].map((name) => run(name.slice(0, 1), 10, name))
    expect(run('c', 1)).toBe('c')
    expect(done).toEqual(['a1', 'b1', 'c'])
    const seen: string[][] = []
    for (let count = 0; count < 4; count += 1) {
      await turn()
      seen.push(done.slice(3))
    }
    expect(seen).toEqual([['a2'], ['a2', 'b2'], ['a2', 'b2', 'a3'], ['a2', 'b2', 'a3', 'a4']])
    expect(await Promise.all(waiting)).toEqual(['a2', 'a3', 'b2', 'a4'])
  })

  it('runs the requests of a key at once again when its evaluations are fast again', async () => {
    const { run } = scene()
    run('a', 10)
    await run('a', 1)
    expect(run('a', 1)).toBe('a')
  })

  it('refuses with Retry-After when 64 requests of a key wait, or 256 of all keys', async () => {
    const { run } = scene()
    const keys = ['a', 'b', 'c', 'd', 'e']
    for (const key of keys) run(key, 10)
    const waiting = keys.slice(0, 4).flatMap((key) => {
      const own = Array.from({ length: 64 }, () => run(key, 10))
      expect(() => run(key, 10)).toThrow('slow evaluations of this SDK key')
      return own
    })
    expect(() => run('e', 10)).toThrow(
      expect.objectContaining({ code: 'RATE_LIMITED', details: { seconds: 1 } }),
    )
    expect((await Promise.all(waiting)).length).toBe(256)
    expect(await run('e', 1)).toBe('e')
  })

  it('passes on what the work throws, at once and after waiting', async () => {
    const { run, scheduler } = scene()
    const scope = {
      keyId: 'a',
      environmentId: 'e',
      rateLimit: 1,
      kind: 'client',
    } as EnvironmentScope
    const fail = () => {
      throw new Error('no')
    }
    expect(() => scheduler.run(scope, fail)).toThrow('no')
    run('a', 10)
    await expect(scheduler.run(scope, fail)).rejects.toThrow('no')
  })
})
