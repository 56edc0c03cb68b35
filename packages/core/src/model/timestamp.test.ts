import { describe, expect, it } from 'vitest'
import { parseTimestamp } from './timestamp.ts'

describe('parseTimestamp', () => {
  it.each([
    ['1970-01-01T00:00:00Z', 0],
    ['1969-12-31T23:59:59.999Z', -1],
    ['2024-02-29T12:30:45Z', 1_709_209_845_000],
    ['2000-02-29T00:00:00Z', 951_782_400_000],
    ['0000-01-01T00:00:00Z', -62_167_219_200_000],
    ['9999-12-31T23:59:59.999Z', 253_402_300_799_999],
  ])('parseTimestamp parses %s', (text, timestamp) => {
    expect(parseTimestamp(text)).toBe(timestamp)
  })

  it('parseTimestamp applies offsets of whole minutes on both sides of UTC', () => {
    const noon = parseTimestamp('2024-06-01T12:00:00Z')
    expect(parseTimestamp('2024-06-01T17:30:00+05:30')).toBe(noon)
    expect(parseTimestamp('2024-06-01T00:00:00-12:00')).toBe(noon)
    expect(parseTimestamp('2024-06-02T11:59:00+23:59')).toBe(noon)
    expect(parseTimestamp('2024-06-01T12:00:00-00:00')).toBe(noon)
  })

  it('parseTimestamp ignores any number of digits after the milliseconds', () => {
    expect(parseTimestamp('1970-01-01T00:00:00.5Z')).toBe(500)
    expect(parseTimestamp('1970-01-01T00:00:00.0019999Z')).toBe(1)
    expect(parseTimestamp(`1970-01-01T00:00:00.${'9'.repeat(10_000)}Z`)).toBe(999)
    expect(parseTimestamp('1969-12-31T23:59:59.0001Z')).toBe(-1000)
  })

  it('parseTimestamp accepts lower-case t and z', () => {
    expect(parseTimestamp('1970-01-01t00:00:01z')).toBe(1000)
  })

  it('A leap second is the first second of the next UTC day', () => {
    const newYear = parseTimestamp('2017-01-01T00:00:00Z')
    expect(parseTimestamp('2016-12-31T23:59:60Z')).toBe(newYear)
    expect(parseTimestamp('2016-12-31T15:59:60-08:00')).toBe(newYear)
    expect(parseTimestamp('2016-12-31T23:59:60+01:00')).toBeUndefined()
    expect(parseTimestamp('2016-12-31T12:00:60Z')).toBeUndefined()
  })

  it.each([
    '',
    '2024-01-01',
    '2024-01-01T00:00:00',
    '2024-01-01T00:00Z',
    '2024-01-01 00:00:00Z',
    ' 2024-01-01T00:00:00Z',
    '2024-01-01T00:00:00Z\n',
    '2024-01-01T24:00:00Z',
    '2024-01-01T00:60:00Z',
    '2024-01-01T00:00:61Z',
    '2024-00-01T00:00:00Z',
    '2024-13-01T00:00:00Z',
    '2024-01-00T00:00:00Z',
    '2024-04-31T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2024-01-01T00:00:00.Z',
    '2024-01-01T00:00:00+24:00',
    '2024-01-01T00:00:00+01:60',
    '2024-01-01T00:00:00+0100',
    '2024-01-01T00:00:00+01',
    '+002024-01-01T00:00:00Z',
    '24-01-01T00:00:00Z',
    '2024-01-01T00:00:00,5Z',
    '١٩٧٠-01-01T00:00:00Z',
    '1704067200000',
  ])('parseTimestamp refuses %j', (text) => {
    expect(parseTimestamp(text)).toBeUndefined()
  })
})
