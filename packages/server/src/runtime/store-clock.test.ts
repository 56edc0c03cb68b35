import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../test/fake-clock.ts'
import { silentLogger } from './logger.ts'
import { StoreClock } from './store-clock.ts'

const SECOND = 1000

/** Creates a clock on a machine whose clock differs from the one of the store by `skewMs`. */
function openClock({ skewMs = 0, callMs = 0 } = {}) {
  const machine = new FakeClock()
  const store = { skewMs, isAvailable: true }
  const lines: string[] = []
  const log = (message: string) => void lines.push(message)
  const clock = new StoreClock({
    clock: machine,
    logger: { ...silentLogger, warn: log, info: log },
    storeTime: {
      async now() {
        if (!store.isAvailable) throw new Error('away')
        // The store reads its clock at the end of the call.
        machine.set(machine.now() + callMs)
        return machine.now() - store.skewMs
      },
    },
  })
  return { clock, machine, store, lines }
}

describe('the clock of the store', () => {
  it('A clock that is wrong shows the time of the store from its start on, and is reported once', async () => {
    for (const skewMs of [-120 * SECOND, -30 * SECOND, 30 * SECOND, 120 * SECOND]) {
      const { clock, machine, lines } = openClock({ skewMs })
      await clock.start()
      expect(clock.now()).toBe(machine.now() - skewMs)
      await machine.advance(60 * SECOND)
      expect(clock.now()).toBe(machine.now() - skewMs)
      const difference = skewMs < 0 ? 'behind' : 'ahead of'
      expect(lines).toEqual([
        `The clock of this machine is ${Math.abs(skewMs) / SECOND} s ${difference} that of the database, whose time is used. Synchronize the clocks`,
      ])
      clock.stop()
      expect(machine.timers).toBe(0)
    }
  })

  it('The time of a clock that is right is not changed, however long the calls take', async () => {
    const { clock, machine, lines } = openClock({ skewMs: 15, callMs: 800 })
    await clock.start()
    await machine.advance(60 * SECOND)
    expect([clock.now(), lines]).toEqual([machine.now(), []])
  })

  it('A clock that changes is followed within five seconds, and its correction is reported', async () => {
    const { clock, machine, store, lines } = openClock()
    await clock.start()
    store.skewMs = -90 * SECOND
    await machine.advance(5 * SECOND)
    expect(clock.now()).toBe(machine.now() + 90 * SECOND)
    store.skewMs = -4 * SECOND
    await machine.advance(5 * SECOND)
    expect(clock.now()).toBe(machine.now() + 4 * SECOND)
    expect(lines).toEqual([
      expect.stringContaining('90 s behind'),
      'The clock of this machine agrees with that of the database again',
    ])
  })

  it('While the store is unavailable, the last difference is used', async () => {
    const { clock, machine, store, lines } = openClock({ skewMs: 30 * SECOND })
    store.isAvailable = false
    await clock.start()
    expect(clock.now()).toBe(machine.now())
    store.isAvailable = true
    await machine.advance(5 * SECOND)
    store.isAvailable = false
    await machine.advance(3600 * SECOND)
    expect([clock.now(), lines.length]).toEqual([machine.now() - 30 * SECOND, 1])
    await clock.start()
    expect(machine.timers).toBe(1)
  })
})
