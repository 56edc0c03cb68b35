import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
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

describe('parseTimestamp for any text', () => {
  it('parseTimestamp parses every timestamp that Date formats', () => {
    fc.assert(
      fc.property(fc.integer({ min: FIRST, max: LAST }), (timestamp) => {
        expect(parseTimestamp(new Date(timestamp).toISOString())).toBe(timestamp)
      }),
      { numRuns: 2000 },
    )
  })

  it('parseTimestamp agrees with Date.parse for every text that both accept', () => {
    fc.assert(
      fc.property(almostTimestamp, (text) => {
        const ours = parseTimestamp(text)
        const theirs = Date.parse(text)
        if (ours !== undefined && !Number.isNaN(theirs)) expect(ours).toBe(theirs)
      }),
      { numRuns: 5000 },
    )
  })

  it('parseTimestamp returns undefined or an integer, and never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), almostTimestamp), (text) => {
        const timestamp = parseTimestamp(text)
        expect(timestamp === undefined || Number.isSafeInteger(timestamp)).toBe(true)
      }),
    )
  })
})
