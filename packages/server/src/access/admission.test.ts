import { expect, it } from 'vitest'
import { FakeClock } from '../../test/fake-clock.ts'
import { Admission } from './admission.ts'

const crowd = (admission: Admission, size: number) =>
  Array.from({ length: size }, () => admission.take())

it('lets a quarter of a second’s number in at one moment, and as many as it says in a second', async () => {
  const clock = new FakeClock()
  const admission = new Admission({ clock, perSecond: 100 })
  let admitted = 0
  for (let tick = 0; tick < 200; tick += 1) {
    admitted += crowd(admission, 10).filter((seconds) => seconds === 0).length
    await clock.advance(10)
  }
  expect(admitted).toBeGreaterThanOrEqual(25 + 198)
  expect(admitted).toBeLessThanOrEqual(25 + 200)
  expect(crowd(new Admission({ clock, perSecond: 100 }), 100).indexOf(1)).toBe(25)
})

it('tells a crowd to come back spread out, as many each second as may then come', () => {
  const admission = new Admission({ clock: new FakeClock(), perSecond: 500 })
  const turns = new Map<number, number>()
  for (const seconds of crowd(admission, 10_000)) {
    turns.set(seconds, (turns.get(seconds) ?? 0) + 1)
  }
  expect(turns.get(0)).toBe(125)
  for (let second = 1; second <= 19; second += 1) expect(turns.get(second)).toBe(500)
  expect(Math.max(...turns.keys())).toBe(20)
})

it('never tells anybody to wait for longer than a minute, however many there are', () => {
  const admission = new Admission({ clock: new FakeClock(), perSecond: 1 })
  const waits = crowd(admission, 1000).slice(1)
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(1)
  expect(Math.max(...waits)).toBeLessThanOrEqual(60)
  expect(new Set(waits.slice(100)).size).toBeGreaterThan(30)
})

it('forgets a crowd that has had its time, and lets nobody in early when the clock is set back', async () => {
  const clock = new FakeClock()
  const admission = new Admission({ clock, perSecond: 100 })
  crowd(admission, 1000)
  clock.set(clock.now() - 3_600_000)
  expect(admission.take()).toBe(10)
  await clock.advance(10_000)
  expect(crowd(admission, 26)).toEqual([...Array.from({ length: 25 }, () => 0), 1])
})
