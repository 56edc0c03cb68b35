import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { parseTimestamp } from './timestamp.ts'

const FIRST = Date.parse('0000-01-01T00:00:00Z')
const LAST = Date.parse('9999-12-31T23:59:59.999Z')

const digits = (max: number) =>
  fc.integer({ min: 0, max }).map((number) => String(number).padStart(2, '0'))

const almostTimestamp = fc
  .tuple(
    fc.integer({ min: 0, max: 9999 }).map((year) => String(year).padStart(4, '0')),
    digits(13),
    digits(32),
    digits(24),
    digits(60),
    digits(60),
    fc.constantFrom('', '.5', '.123', '.000', '.9999', '.1234567891'),
    fc.oneof(fc.constantFrom('Z', ''), fc.tuple(fc.constantFrom('+', '-'), digits(24), digits(60))),
  )
  .map(([year, month, day, hour, minute, second, fraction, zone]) => {
    const suffix = typeof zone === 'string' ? zone : `${zone[0]}${zone[1]}:${zone[2]}`
    return `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction}${suffix}`
  })

/** Timestamps in which one character is inserted, removed or replaced. */
const spoiled = fc
  .tuple(
    almostTimestamp,
    fc.nat({ max: 36 }),
    fc.constantFrom('', '0', '5', '9', '-', ':', '.', '+', 'T', 't', 'Z', 'z', ' ', 'ſ', '٣', '/'),
    fc.nat({ max: 1 }),
  )
  .map(([text, at, character, removed]) => {
    return text.slice(0, at) + character + text.slice(at + removed)
  })

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)t(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:z|([+-])(\d\d):(\d\d))$/i

/** Parses a timestamp with a regular expression and `Date`. */
function parseWithDate(text: string): number | undefined {
  const match = RFC_3339.exec(text)
  if (match === null) return undefined
  const field = (index: number) => Number(match[index] ?? 0)
  const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map(field)
  const date = new Date(0)
  date.setUTCFullYear(year ?? 0, (month ?? 0) - 1, day)
  const isDate = date.getUTCMonth() === (month ?? 0) - 1 && date.getUTCDate() === day
  if (!isDate || field(4) > 23 || field(5) > 59 || field(6) > 60) return undefined
  if (field(9) > 23 || field(10) > 59) return undefined
  const offset = (match[8] === '-' ? -1 : 1) * (field(9) * 60 + field(10))
  date.setUTCHours(hour ?? 0, (minute ?? 0) - offset, second)
  if (second === 60 && date.getTime() % 86_400_000 !== 0) return undefined
  return date.getTime() + Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'))
}

describe('parseTimestamp for any text', () => {
  it('parseTimestamp returns the same as a parser with a regular expression, for any text', () => {
    const leapSecond = fc.constantFrom(
      ...['2016-12-31T23:59:60Z', '2017-01-01T00:59:60+01:00', '2016-12-31T23:58:60Z'],
      ...['2016-12-31T18:29:60.9999-05:30', '2016-12-31T24:59:60+01:00', '1972-06-30t23:59:60.5z'],
    )
    fc.assert(
      fc.property(fc.oneof(almostTimestamp, spoiled, spoiled, leapSecond), (text) => {
        const expected = parseWithDate(text)
        expect([text, parseTimestamp(text)]).toEqual([text, expected])
        const lower = text.toLowerCase()
        expect([lower, parseTimestamp(lower)]).toEqual([lower, expected])
      }),
      { numRuns: runs(20_000) },
    )
  })

  it('parseTimestamp parses every timestamp that Date formats', () => {
    fc.assert(
      fc.property(fc.integer({ min: FIRST, max: LAST }), (timestamp) => {
        expect(parseTimestamp(new Date(timestamp).toISOString())).toBe(timestamp)
      }),
      { numRuns: runs(2000) },
    )
  })

  it('parseTimestamp agrees with Date.parse for every text that both accept', () => {
    fc.assert(
      fc.property(almostTimestamp, (text) => {
        const ours = parseTimestamp(text)
        const theirs = Date.parse(text)
        if (ours !== undefined && !Number.isNaN(theirs)) expect(ours).toBe(theirs)
      }),
      { numRuns: runs(5000) },
    )
  })

  it('parseTimestamp returns undefined or an integer, and never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), almostTimestamp), (text) => {
        const timestamp = parseTimestamp(text)
        expect(timestamp === undefined || Number.isSafeInteger(timestamp)).toBe(true)
      }),
      { numRuns: runs(100) },
    )
  })
})
