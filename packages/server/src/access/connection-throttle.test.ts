import { expect, it } from 'vitest'
import { FakeClock } from '../../test/fake-clock.ts'
import { ConnectionThrottle } from './connection-throttle.ts'

const crowd = (admission: ConnectionThrottle, size: number, organization = 'acme') =>
  Array.from({ length: size }, () => admission.take(organization))

const admittedOf = (waits: readonly number[]) => waits.filter((seconds) => seconds === 0).length

it('admits a quarter of a second’s number at one moment and the whole number in a second', async () => {
  const clock = new FakeClock()
  const admission = new ConnectionThrottle({ clock, perSecond: 100 })
  let admitted = 0
  for (let tick = 0; tick < 200; tick += 1) {
    for (const name of ['acme', 'globex']) admitted += admittedOf(crowd(admission, 10, name))
    await clock.advance(10)
  }
  expect(admitted).toBeGreaterThanOrEqual(25 + 198)
  expect(admitted).toBeLessThanOrEqual(25 + 200)
})

it('admits one organization to three quarters of the number, at one moment and in a second', async () => {
  const clock = new FakeClock()
  const admission = new ConnectionThrottle({ clock, perSecond: 100 })
  expect(admittedOf(crowd(admission, 100))).toBe(19)
  let admitted = 0
  for (let tick = 0; tick < 200; tick += 1) {
    await clock.advance(10)
    admitted += admittedOf(crowd(admission, 10))
  }
  expect(admitted).toBeGreaterThanOrEqual(149)
  expect(admitted).toBeLessThanOrEqual(151)
})

it('admits clients of another organization while one organization’s crowd never stops', async () => {
  const clock = new FakeClock()
  const admission = new ConnectionThrottle({ clock, perSecond: 100 })
  const waits: number[] = []
  for (let tick = 0; tick < 200; tick += 1) {
    crowd(admission, 50)
    if (tick % 5 === 0) waits.push(admission.take('globex'))
    await clock.advance(10)
  }
  expect(waits.filter((seconds) => seconds > 0)).toEqual([])
})

it('spreads a crowd over as many seconds as its admission takes', () => {
  const admission = new ConnectionThrottle({ clock: new FakeClock(), perSecond: 400 })
  const turns = new Map<number, number>()
  for (const seconds of crowd(admission, 6000)) turns.set(seconds, (turns.get(seconds) ?? 0) + 1)
  expect(turns.get(0)).toBe(75)
  for (let second = 1; second <= 19; second += 1) expect(turns.get(second)).toBe(300)
  expect(Math.max(...turns.keys())).toBe(20)
})

it('never gives a wait of more than a minute, however large the crowd is', () => {
  const admission = new ConnectionThrottle({ clock: new FakeClock(), perSecond: 1 })
  const waits = crowd(admission, 1000).slice(1)
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(1)
  expect(Math.max(...waits)).toBeLessThanOrEqual(60)
  expect(new Set(waits.slice(100)).size).toBeGreaterThan(30)
})

it('admits another client in place of one whose admission was given back', () => {
  const admission = new ConnectionThrottle({ clock: new FakeClock(), perSecond: 4 })
  expect(crowd(admission, 2)).toEqual([0, 1])
  admission.giveBack('acme')
  expect(admission.take('acme')).toBe(0)
})

it('forgets a crowd once its time has passed, and admits no client early when the clock is set back', async () => {
  const clock = new FakeClock()
  const admission = new ConnectionThrottle({ clock, perSecond: 100 })
  crowd(admission, 750)
  clock.set(clock.now() - 3_600_000)
  expect(admission.take('acme')).toBe(10)
  await clock.advance(10_000)
  expect(crowd(admission, 20)).toEqual([...Array.from({ length: 19 }, () => 0), 1])
})
