import { expect, it, vi } from 'vitest'
import { FakeTime } from '../../test/fake-time.ts'
import { createAlarms } from './alarms.ts'

function scene() {
  const time = new FakeTime()
  const schedule = vi.spyOn(time, 'schedule')
  return { time, schedule, alarms: createAlarms(time) }
}

it('All due alarms run in one turn, in the order of their times.', async () => {
  const { time, schedule, alarms } = scene()
  const ran: number[] = []
  for (let n = 0; n < 5000; n += 1) alarms.set(n, 100 + (n % 2), () => ran.push(n))
  await time.advance(100)
  expect(ran.length).toBe(2500)
  await time.advance(1)
  expect(ran.slice(0, 3)).toEqual([0, 2, 4])
  expect(ran.slice(2500, 2503)).toEqual([1, 3, 5])
  expect([ran.length, schedule.mock.calls.length, time.timers]).toEqual([5000, 2, 0])
})

it('An alarm that another one clears or replaces in the same turn does not run.', async () => {
  const { time, alarms } = scene()
  const ran: string[] = []
  alarms.set('first', 5, () => {
    ran.push('first')
    alarms.clear('cleared')
    alarms.set('replaced', 0, () => ran.push('replacement'))
    expect([alarms.has('first'), alarms.has('cleared'), alarms.has('last')]).toEqual([
      false,
      false,
      true,
    ])
  })
  for (const name of ['cleared', 'replaced', 'last']) alarms.set(name, 5, () => ran.push(name))
  await time.advance(5)
  expect([ran, time.timers]).toEqual([['first', 'last', 'replacement'], 0])
})

it('An alarm with an earlier time than the others runs at its time.', async () => {
  const { time, alarms } = scene()
  const ran: [string, number][] = []
  const set = (name: string, delayMs: number) =>
    alarms.set(name, delayMs, () => ran.push([name, time.monotonicNow()]))
  set('late', 300)
  set('moved', 10)
  set('early', 20)
  set('moved', 200)
  await time.advance(300)
  expect(ran).toEqual([
    ['early', 20],
    ['moved', 200],
    ['late', 300],
  ])
})

it('No timer remains after the last alarm is cleared, also by a task.', async () => {
  const { time, alarms } = scene()
  alarms.set('a', 10, () => {})
  alarms.set('b', 5, () => alarms.clear('a'))
  alarms.clear('a')
  expect(time.timers).toBe(1)
  alarms.set('a', 10, () => {})
  await time.advance(5)
  expect(time.timers).toBe(0)
  alarms.set('a', 10, () => {})
  alarms.clear('a')
  expect(time.timers).toBe(0)
})
