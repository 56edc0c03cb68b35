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

describe('attempts', () => {
  it('of more names than are remembered are refused until the window ends', async () => {
    const clock = new FakeClock()
    const attempts = new Attempts({ clock, limit: 2 })
    for (let n = 0; n < 20_000; n += 1) attempts.take(`name ${n}`)
    expect(codeOf(() => attempts.take('one more'))).toBe('RATE_LIMITED')
    expect(codeOf(() => attempts.take('name 0'))).toBe('taken')
    expect(codeOf(() => attempts.take('name 0'))).toBe('RATE_LIMITED')
    await clock.advance(15 * 60_000)
    expect(codeOf(() => attempts.take('one more'))).toBe('taken')
  })

  it('Attempts of the oldest names are forgotten when the table is full, if so set', () => {
    const attempts = new Attempts({ clock: new FakeClock(), limit: 1, whenFull: 'forget oldest' })
    for (let n = 0; n <= 20_000; n += 1) attempts.take(`name ${n}`)
    expect(codeOf(() => attempts.take('name 1'))).toBe('RATE_LIMITED')
    expect(codeOf(() => attempts.take('name 0'))).toBe('taken')
    expect(codeOf(() => attempts.take('name 1'))).toBe('taken')
  })

  it('given back can be made again, but are never more than there were', () => {
    const attempts = new Attempts({ clock: new FakeClock(), limit: 1 })
    attempts.giveBack('name')
    attempts.take('name')
    expect(codeOf(() => attempts.take('name'))).toBe('RATE_LIMITED')
    attempts.giveBack('name')
    expect(codeOf(() => attempts.take('name'))).toBe('taken')
  })

  it('are not refused for ever when the clock is set back', () => {
    const clock = new FakeClock()
    const attempts = new Attempts({ clock, limit: 1 })
    attempts.take('name')
    clock.set(clock.now() - 24 * 60 * 60_000)
    expect(codeOf(() => attempts.take('name'))).toBe('taken')
  })
})
