import { describe, expect, it } from 'vitest'
import { dayOfMonth, daysAfter, monthAfter, monthOf } from './billing-period.ts'

/** Returns the ends of `count` periods, of which the first begins at `start`. */
function endsFrom(start: string, count: number): string[] {
  const day = dayOfMonth(start)
  const ends: string[] = []
  for (let end = start; ends.length < count; ends.push(end)) end = monthAfter(end, day)
  return ends
}

describe('Billing periods', () => {
  it('Billing periods end on the same day of each month, at the same time', () => {
    expect(endsFrom('2030-11-15T10:20:30.456Z', 3)).toEqual([
      '2030-12-15T10:20:30.456Z',
      '2031-01-15T10:20:30.456Z',
      '2031-02-15T10:20:30.456Z',
    ])
  })

  it('Billing periods end on the last day of a short month, and on their usual day in the next month', () => {
    const dates = (start: string, count: number) =>
      endsFrom(start, count).map((end) => end.slice(5, 10))
    const midnight = 'T00:00:00.000Z'
    expect(dates(`2030-01-31${midnight}`, 4)).toEqual(['02-28', '03-31', '04-30', '05-31'])
    expect(dates(`2032-01-31${midnight}`, 2)).toEqual(['02-29', '03-31'])
    expect(dates(`2030-12-30${midnight}`, 3)).toEqual(['01-30', '02-28', '03-30'])
  })

  it('Billing periods are computed in UTC', () => {
    expect(endsFrom('2030-01-31T23:59:59.999Z', 1)).toEqual(['2030-02-28T23:59:59.999Z'])
  })

  it('Trial periods are whole days', () => {
    expect(daysAfter('2030-02-27T12:00:00.000Z', 14)).toBe('2030-03-13T12:00:00.000Z')
  })

  it.each([
    ['a month', '2030-01-15', '2030-02-15', '2030-02-01', '2030-01-15', '2030-02-15', 15],
    [
      'a month that is over',
      '2030-01-15',
      '2030-02-15',
      '2030-04-01',
      '2030-01-15',
      '2030-02-15',
      15,
    ],
    [
      'a month from the 31st',
      '2030-01-31',
      '2030-02-28',
      '2030-02-01',
      '2030-01-31',
      '2030-02-28',
      31,
    ],
    [
      'a month to the 31st',
      '2030-02-28',
      '2030-03-31',
      '2030-03-01',
      '2030-02-28',
      '2030-03-31',
      31,
    ],
    ['a week', '2030-01-15', '2030-01-22', '2030-01-16', '2030-01-15', '2030-01-22', 22],
    ['a year', '2030-01-31', '2031-01-31', '2030-03-30', '2030-02-28', '2030-03-31', 31],
    [
      'a year’s last month',
      '2030-01-31',
      '2031-01-31',
      '2031-05-01',
      '2030-12-31',
      '2031-01-31',
      31,
    ],
    [
      'a year that lies ahead',
      '2031-01-31',
      '2032-01-31',
      '2030-05-01',
      '2031-01-31',
      '2031-02-28',
      31,
    ],
  ])('A paid period is divided into months: %s', (_what, ...[from, to, now, start, end, day]) => {
    const at = (date: string) => `${date}T10:20:30.000Z`
    expect(monthOf({ periodStart: at(from), periodEnd: at(to) }, at(now))).toEqual({
      periodStart: at(start),
      currentPeriodEnd: at(end),
      periodDay: day,
    })
  })
})
