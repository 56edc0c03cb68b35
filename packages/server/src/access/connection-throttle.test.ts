import { expect, it } from 'vitest'
import { FakeClock } from '../../test/fake-clock.ts'
import { ConnectionThrottle } from './connection-throttle.ts'

const crowd = (throttle: ConnectionThrottle, size: number, organization = 'acme') =>
  Array.from({ length: size }, () => throttle.take(organization))

const admittedOf = (waits: readonly number[]) => waits.filter((seconds) => seconds === 0).length

it('A connection throttle admits a quarter of its rate immediately and the whole rate in a second', async () => {
  const clock = new FakeClock()
  const throttle = new ConnectionThrottle({ clock, perSecond: 100 })
  let admitted = 0
  for (let tick = 0; tick < 200; tick += 1) {
    for (const name of ['acme', 'globex']) admitted += admittedOf(crowd(throttle, 10, name))
    await clock.advance(10)
  }
  expect(admitted).toBeGreaterThanOrEqual(25 + 198)
  expect(admitted).toBeLessThanOrEqual(25 + 200)
})

it('A connection throttle admits clients of one organization up to three quarters of both limits', async () => {
  const clock = new FakeClock()
  const throttle = new ConnectionThrottle({ clock, perSecond: 100 })
  expect(admittedOf(crowd(throttle, 100))).toBe(19)
  let admitted = 0
  for (let tick = 0; tick < 200; tick += 1) {
    await clock.advance(10)
    admitted += admittedOf(crowd(throttle, 10))
  }
  expect(admitted).toBeGreaterThanOrEqual(149)
  expect(admitted).toBeLessThanOrEqual(151)
})

it('A connection throttle admits clients of one organization while clients of another organization connect without pause', async () => {
  const clock = new FakeClock()
  const throttle = new ConnectionThrottle({ clock, perSecond: 100 })
  const waits: number[] = []
  for (let tick = 0; tick < 200; tick += 1) {
    crowd(throttle, 50)
    if (tick % 5 === 0) waits.push(throttle.take('globex'))
    await clock.advance(10)
  }
  expect(waits.filter((seconds) => seconds > 0)).toEqual([])
})

it('A connection throttle returns the same delay to at most as many clients as can connect per second', () => {
  const throttle = new ConnectionThrottle({ clock: new FakeClock(), perSecond: 400 })
  const turns = new Map<number, number>()
  for (const seconds of crowd(throttle, 6000)) turns.set(seconds, (turns.get(seconds) ?? 0) + 1)
  expect(turns.get(0)).toBe(75)
  for (let second = 1; second <= 19; second += 1) expect(turns.get(second)).toBe(300)
  expect(Math.max(...turns.keys())).toBe(20)
})

it('A connection throttle never returns a wait of more than a minute', () => {
  const throttle = new ConnectionThrottle({ clock: new FakeClock(), perSecond: 1 })
  const waits = crowd(throttle, 1000).slice(1)
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(1)
  expect(Math.max(...waits)).toBeLessThanOrEqual(60)
  expect(new Set(waits.slice(100)).size).toBeGreaterThan(30)
})

it('A connection throttle admits another client after an unused permit was returned', () => {
  const throttle = new ConnectionThrottle({ clock: new FakeClock(), perSecond: 4 })
  expect(crowd(throttle, 2)).toEqual([0, 1])
  throttle.giveBack('acme')
  expect(throttle.take('acme')).toBe(0)
})

it('A connection throttle empties its queue over time, and admits no client early when the clock is set back', async () => {
  const clock = new FakeClock()
  const throttle = new ConnectionThrottle({ clock, perSecond: 100 })
  crowd(throttle, 750)
  clock.set(clock.now() - 3_600_000)
  expect(throttle.take('acme')).toBe(10)
  await clock.advance(10_000)
  expect(crowd(throttle, 20)).toEqual([...Array.from({ length: 19 }, () => 0), 1])
})
