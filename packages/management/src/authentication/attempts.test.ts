import { isFlagError } from '@ff/core'
import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../../server/test/fake-clock.ts'
import { Attempts } from './attempts.ts'

const codeOf = (work: () => void) => {
  try {
    work()
    return 'taken'
  } catch (error) {
    return isFlagError(error) ? error.code : error
  }
}

describe('Attempts', () => {
  it('Attempts of new names are refused until the window ends if the table is full', async () => {
    const clock = new FakeClock()
    const attempts = new Attempts({ clock, limit: 2 })
    for (let n = 0; n < 20_000; n += 1) attempts.take(`name ${n}`)
    expect(codeOf(() => attempts.take('one more'))).toBe('RATE_LIMITED')
    expect(codeOf(() => attempts.take('name 0'))).toBe('taken')
    expect(codeOf(() => attempts.take('name 0'))).toBe('RATE_LIMITED')
    await clock.advance(15 * 60_000)
    expect(codeOf(() => attempts.take('one more'))).toBe('taken')
  })

  it('A full table forgets the oldest names if whenFull is set to forget oldest', () => {
    const attempts = new Attempts({ clock: new FakeClock(), limit: 1, whenFull: 'forget oldest' })
    for (let n = 0; n <= 20_000; n += 1) attempts.take(`name ${n}`)
    expect(codeOf(() => attempts.take('name 1'))).toBe('RATE_LIMITED')
    expect(codeOf(() => attempts.take('name 0'))).toBe('taken')
    expect(codeOf(() => attempts.take('name 1'))).toBe('taken')
  })

  it('An attempt that is given back can be used again, but only up to the limit', () => {
    const attempts = new Attempts({ clock: new FakeClock(), limit: 1 })
    attempts.giveBack('name')
    attempts.take('name')
    expect(codeOf(() => attempts.take('name'))).toBe('RATE_LIMITED')
    attempts.giveBack('name')
    expect(codeOf(() => attempts.take('name'))).toBe('taken')
  })

  it('Attempts are not refused forever if the clock is set back', () => {
    const clock = new FakeClock()
    const attempts = new Attempts({ clock, limit: 1 })
    attempts.take('name')
    clock.set(clock.now() - 24 * 60 * 60_000)
    expect(codeOf(() => attempts.take('name'))).toBe('taken')
  })
})
