import { describe, expect, it } from 'vitest'
import { FakeClock, until } from '../../test/fake-clock.ts'
import type { Clock } from '../runtime/clock.ts'
import { TICK_MS, TimerWheel } from './timer-wheel.ts'

function wheelOf(clock: Clock) {
  const wheel = new TimerWheel(clock)
  const fallen: string[] = []
  const due = (name: string) => ({ fallDue: () => void fallen.push(name) })
  return { wheel, fallen, due }
}

describe('a timer wheel', () => {
  it('lets everything fall due in order, never early and at most a tick late', async () => {
    const clock = new FakeClock(Date.parse('2030-01-01T00:00:00.013Z'))
    const { wheel, fallen, due } = wheelOf(clock)
    wheel.add(due('later'), 1000)
    wheel.add(due('sooner'), 10)
    await clock.advance(9)
    expect(fallen).toEqual([])
    await clock.advance(1 + TICK_MS)
    expect(fallen).toEqual(['sooner'])
    await clock.advance(938)
    expect(fallen).toEqual(['sooner'])
    await clock.advance(2 + TICK_MS)
    expect(fallen).toEqual(['sooner', 'later'])
    expect(clock.timers).toBe(0)
  })

  it('holds one timer, and none when everything was cancelled', async () => {
    const clock = new FakeClock()
    const { wheel, fallen, due } = wheelOf(clock)
    const all = Array.from({ length: 100 }, (_, number) => due(`${number}`))
    const ticks = all.map((one, number) => wheel.add(one, 1000 - number))
    expect(clock.timers).toBe(1)
    for (const [number, one] of all.entries()) wheel.cancel(one, ticks[number] ?? 0)
    expect(clock.timers).toBe(0)
    await clock.advance(2000)
    expect(fallen).toEqual([])
  })

  it('lets thousands fall due at the same time, in time slices', async () => {
    const clock = new FakeClock()
    const { wheel, fallen, due } = wheelOf(clock)
    for (let number = 0; number < 5000; number += 1) wheel.add(due(`${number}`), 100)
    const moved = clock.advance(100)
    expect(fallen.length).toBeLessThan(5000)
    await moved
    await until(() => fallen.length === 5000)
    expect(new Set(fallen).size).toBe(5000)
  })

  it('holds nothing up when the clock is set back, and is early when it is set forward', async () => {
    const clock = new FakeClock()
    let shift = 0
    // As everywhere, timers do not care about the time of day.
    const { wheel, fallen, due } = wheelOf({
      now: () => clock.now() + shift,
      monotonicNow: () => clock.monotonicNow(),
      schedule: (delayMs, task) => clock.schedule(delayMs, task),
    })
    wheel.add(due('back'), 1000)
    shift = -3_600_000
    wheel.add(due('later'), 1500)
    await clock.advance(1600)
    expect(fallen).toEqual(['back', 'later'])
    wheel.add(due('forward'), 60_000)
    shift = 3_600_000
    wheel.add(due('after'), 100)
    await clock.advance(150)
    expect(fallen).toEqual(['back', 'later', 'forward', 'after'])
  })
})
