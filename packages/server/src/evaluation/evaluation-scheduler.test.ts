import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../test/fake-clock.ts'
import type { EnvironmentScope } from '../access/scope.ts'
import { EvaluationScheduler } from './evaluation-scheduler.ts'

const MIB = 1024 * 1024

/** Creates a scheduler with a clock that advances while work runs. */
function scene() {
  const clock = new FakeClock()
  const charged: (readonly [key: string, requests: number])[] = []
  const limiter = {
    charge: ({ keyId }: EnvironmentScope, requests: number) => void charged.push([keyId, requests]),
  }
  const scheduler = new EvaluationScheduler({ clock, limiter })
  const done: string[] = []
  /** Runs an evaluation of `ms` milliseconds for the key that is the first letter of `name`. */
  const run = (name: string, ms: number, bytes = 100) => {
    const scope = { keyId: name.slice(0, 1) } as EnvironmentScope
    return scheduler.run(scope, bytes, () => {
      clock.set(clock.now() + ms)
      done.push(name)
      return name
    })
  }
  return { scheduler, charged, done, run }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('EvaluationScheduler', () => {
  it('Short evaluations run immediately, and each counts as one request', () => {
    const { run, charged } = scene()
    for (let count = 0; count < 1000; count += 1) expect(run('a', 0.2)).toBe('a')
    expect(charged).toEqual([])
  })

  it('A request counts once for each started period of 2 ms of its evaluation', async () => {
    const { run, charged } = scene()
    for (const [name, ms] of [
      ['a', 2],
      ['b', 2.5],
      ['c', 20],
      ['d', 20.5],
    ] as const) {
      await run(name, ms)
    }
    expect(charged).toEqual([
      ['b', 1],
      ['c', 9],
      ['d', 10],
    ])
  })

  it('The requests of a key wait for later turns after they have taken 4 ms in one turn', async () => {
    const { run, done } = scene()
    expect([run('a1', 1), run('a2', 3)]).toEqual(['a1', 'a2'])
    const waiting = run('a3', 1)
    expect(waiting).toBeInstanceOf(Promise)
    expect(run('b1', 1)).toBe('b1')
    expect(done).toEqual(['a1', 'a2', 'b1'])
    expect(await waiting).toBe('a3')
    expect(run('a4', 1)).toBe('a4')
  })

  it('One slow request runs in each turn, and keys take turns', async () => {
    const { run, done } = scene()
    const names = ['a1', 'b1', 'a2', 'a3', 'b2', 'a4']
    const answers = names.map((name) => run(name, 10))
    const seen: string[][] = []
    for (let count = 0; count < 5; count += 1) {
      seen.push(done.slice())
      await turn()
    }
    expect(seen).toEqual([
      ['a1', 'b1'],
      ['a1', 'b1', 'a2'],
      ['a1', 'b1', 'a2', 'b2'],
      ['a1', 'b1', 'a2', 'b2', 'a3'],
      ['a1', 'b1', 'a2', 'b2', 'a3', 'a4'],
    ])
    expect(await Promise.all(answers)).toEqual(names)
  })

  it('A request waits behind the queued requests of its key', async () => {
    const { run, done } = scene()
    run('a1', 10)
    const waiting = [run('a2', 10), run('a3', 10)]
    await turn()
    expect(done).toEqual(['a1', 'a2'])
    await Promise.all([...waiting, run('a4', 1)])
    expect(done).toEqual(['a1', 'a2', 'a3', 'a4'])
  })

  it('A request is refused with Retry-After if queued bodies reach 4 MiB for its key or 64 MiB in total', async () => {
    const { run } = scene()
    const keys = [...'abcdefghijklmnopq']
    for (const key of keys) run(key, 10)
    const waiting = keys.slice(0, 16).map((key) => run(key, 10, 4 * MIB))
    expect(() => run('a', 10, 1)).toThrow('Too many slow requests are waiting')
    expect(() => run('q', 10, 1)).toThrow(
      expect.objectContaining({ code: 'RATE_LIMITED', details: { seconds: 1 } }),
    )
    expect(await Promise.all(waiting)).toHaveLength(16)
    expect(await run('q', 1)).toBe('q')
    expect(await run('a', 1)).toBe('a')
  })

  it('An error of the work reaches the caller, with and without waiting', async () => {
    const { run, scheduler } = scene()
    const fail = () => {
      throw new Error('no')
    }
    const scope = { keyId: 'a' } as EnvironmentScope
    expect(() => scheduler.run(scope, 1, fail)).toThrow('no')
    run('a', 10)
    await expect(scheduler.run(scope, 1, fail)).rejects.toThrow('no')
  })
})
