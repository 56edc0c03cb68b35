import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../model/json.ts'
import { compileCondition, holdsFor } from './condition.ts'
import { type ScaleTest, scaleTestOf } from './scale.ts'

/** Returns the result of a test for a value. `undefined` if the scale does not decide it. */
function resultOf({ scale, ranges }: ScaleTest, value: JsonValue): boolean | undefined {
  const position = scale.positionOf(value)
  if (position === undefined) return false
  if (Number.isNaN(position)) return undefined
  return ranges.some(({ from, to }) => from <= position && position < to)
}

/** Returns the values that a condition matches, in the order of `values`. */
function matched(operator: string, value: string, values: readonly JsonValue[]): JsonValue[] {
  const test = scaleTestOf(operator, value)
  expect(test).toBeDefined()
  const condition = compileCondition({ attribute: 'a', operator, value })
  return values.filter((each) => {
    const result = test && resultOf(test, each)
    // The scale and the comparison of the operator have the same result.
    if (!operator.startsWith('not_')) expect(result).toBe(holdsFor(condition, each))
    return result
  })
}

const NUMBERS = [41, 41.99999999999999, 42, 42.00000000000001, '42', ' 4.2e1 ', 43]
const SMALL = [-5e-324, -0, 0, '-0', 5e-324]
const LARGE = [-Number.MAX_VALUE, 0, 1.7976931348623155e308, Number.MAX_VALUE]
const NOON = 1_767_268_800_000
const TIMES = [
  ...[NOON - 1, '2026-01-01T11:59:59.999999Z', NOON, '2026-01-01T12:00:00Z'],
  ...['2026-01-01T13:30:00+01:30', NOON + 0.5, '2026-01-01T12:00:00.001Z', NOON + 1],
]
const VERSIONS = ['1.2.2', '1.2.3', 'v1.2.3', '1.2.3+build', '1.2.4', '1.3', '2', '99999.0.0']
const ADDRESSES = [
  ...['0.0.0.0', '9.255.255.255', '10.0.0.0', '::ffff:10.0.0.1', '10.255.255.255', '11.0.0.0'],
  ...['127.255.255.255', '128.0.0.0', '255.255.255.255'],
]

describe('scaleTestOf', () => {
  it.each<[operator: string, value: string, values: readonly JsonValue[], expected: JsonValue[]]>([
    ['gt', '42', NUMBERS, NUMBERS.filter((each) => Number(each) > 42)],
    ['gte', '42', NUMBERS, NUMBERS.filter((each) => Number(each) >= 42)],
    ['lt', '42', NUMBERS, [41, 41.99999999999999]],
    ['lte', '42.0', NUMBERS, [41, 41.99999999999999, 42, '42', ' 4.2e1 ']],
    ['gt', '0', SMALL, [5e-324]],
    ['gt', '-5e-324', SMALL, [-0, 0, '-0', 5e-324]],
    ['gte', '-0', SMALL, [-0, 0, '-0', 5e-324]],
    ['lt', '-0', SMALL, [-5e-324]],
    ['lte', '0', SMALL, [-5e-324, -0, 0, '-0']],
    ['lte', '-5e-324', SMALL, [-5e-324]],
    ['gt', '1.7976931348623155e308', LARGE, [Number.MAX_VALUE]],
    ['gt', '1.7976931348623157e308', LARGE, []],
    ['gte', '1.7976931348623157e308', LARGE, [Number.MAX_VALUE]],
    ['lte', '1.7976931348623157e308', LARGE, LARGE],
    ['lt', '-1.7976931348623157e308', LARGE, []],
    ['lte', '-1.7976931348623157e308', LARGE, [-Number.MAX_VALUE]],
    ['between', '[41.99999999999999,"42"]', NUMBERS, NUMBERS.slice(1, 3).concat('42', ' 4.2e1 ')],
    ['between', '[42,42]', NUMBERS, [42, '42', ' 4.2e1 ']],
    ['between', '[-0,0]', SMALL, [-0, 0, '-0']],
    ['before', '2026-01-01T12:00:00Z', TIMES, TIMES.slice(0, 2)],
    ['before', `${NOON}`, TIMES, TIMES.slice(0, 2)],
    ['before', `${NOON}.25`, TIMES, TIMES.slice(0, 5)],
    ['after', '2026-01-01T12:00:00Z', TIMES, TIMES.slice(5)],
    ['after', `${NOON}.5`, TIMES, TIMES.slice(6)],
    ['semver_eq', '1.2.3', VERSIONS, ['1.2.3', 'v1.2.3', '1.2.3+build']],
    ['semver_eq', '1.3.0', VERSIONS, ['1.3']],
    ['semver_gt', 'v1.2.3+other', VERSIONS, VERSIONS.slice(4)],
    ['semver_gte', '1.2.3', VERSIONS, VERSIONS.slice(1)],
    ['semver_lt', '1.2.3', VERSIONS, ['1.2.2']],
    ['semver_lte', '1.2.3', VERSIONS, VERSIONS.slice(0, 4)],
    ['in_cidr', '10.0.0.0/8', ADDRESSES, ADDRESSES.slice(2, 5)],
    ['in_cidr', '10.77.0.1/8', ADDRESSES, ADDRESSES.slice(2, 5)],
    ['in_cidr', '::ffff:10.0.0.0/104', ADDRESSES, ADDRESSES.slice(2, 5)],
    ['in_cidr', '0.0.0.0/0', ADDRESSES, ADDRESSES],
    ['in_cidr', '128.0.0.0/1', ADDRESSES, ADDRESSES.slice(7)],
    ['in_cidr', '255.255.255.255', ADDRESSES, ADDRESSES.slice(8)],
    ['in_cidr', '["11.0.0.0/32","0.0.0.0/30","nonsense"]', ADDRESSES, ['0.0.0.0', '11.0.0.0']],
    ['in_cidr', '["10.0.0.0/9","10.0.0.0/8","10.0.0.1"]', ADDRESSES, ADDRESSES.slice(2, 5)],
    ['in_cidr', '::/0', ADDRESSES, []],
    ['not_in_cidr', '10.0.0.0/8', ADDRESSES, ADDRESSES.slice(2, 5)],
  ])(
    'The ranges of %s %s contain exactly the matching values',
    (operator, value, values, expected) => {
      expect(matched(operator, value, values)).toEqual(expected)
    },
  )

  it.each([
    ...['number', 'timestamp', 'version', 'address'].map((name, at) => {
      const operator = ['gt', 'before', 'semver_eq', 'in_cidr'][at] ?? ''
      const value = ['1', '1', '1', '10.0.0.1'][at] ?? ''
      return [name, operator, value] as const
    }),
  ])('The scale %s has no position for values of other types', (name, operator, value) => {
    const scale = scaleTestOf(operator, value)?.scale
    expect(scale?.name).toBe(name)
    const others = ['', 'text', '1'.repeat(1025), true, false, Infinity, -Infinity, NaN, '1e999']
    for (const other of others)
      expect([other, scale?.positionOf(other)]).toEqual([other, undefined])
  })

  it('A value of 1,024 characters has a position, and a longer one has none', () => {
    const { scale } = scaleTestOf('gt', '1') ?? {}
    expect(scale?.positionOf(`${' '.repeat(1023)}7`)).toBe(7)
    expect(scale?.positionOf(`${' '.repeat(1024)}7`)).toBeUndefined()
  })

  it('Timestamps as numbers have positions, and numbers as text have none', () => {
    const { scale } = scaleTestOf('before', '1') ?? {}
    expect(scale?.positionOf(-1.5)).toBe(-1.5)
    expect(scale?.positionOf('1767268800000')).toBeUndefined()
    expect(scale?.positionOf('2026-01-01T12:00:00Z')).toBe(NOON)
  })

  it('Releases have positions in the order of their precedence', () => {
    const { scale } = scaleTestOf('semver_eq', '1') ?? {}
    const releases = [
      ...['0', '0.0.1', '0.0.9', '0.0.10', '0.0.99999', '0.0.100000', '0.0.131071', '0.1'],
      ...['0.99999.99999', '0.131071.131071', '1', '1.0.1', '10.0.0', '12345.67890.1', '99999.0.0'],
      ...['100000', '131071.131071.131070', '131071.131071.131071'],
    ]
    const positions = releases.map((release) => scale?.positionOf(release) ?? -1)
    expect(positions).toEqual(positions.toSorted((left, right) => left - right))
    expect(new Set(positions).size).toBe(releases.length)
    for (const position of positions) expect(Number.isSafeInteger(position)).toBe(true)
    for (const same of ['1.2.3', 'v1.2.3', 'V1.2.3', '1.2.3+a', '1.2.3+a-b.c']) {
      expect(scale?.positionOf(same)).toBe(2 ** 34 + 2 * 2 ** 17 + 3)
    }
  })

  it.each([
    ...['1.2.3-beta', '1.2.3-0', 'v1.2-rc.1+build', '131072.0.0', '0.131072.0', '0.0.131072'],
    '12345678901234567890.0.0',
  ])('The version %s is compared without the scale', (version) => {
    const { scale } = scaleTestOf('semver_eq', '1') ?? {}
    expect(scale?.positionOf(version)).toBeNaN()
    for (const operator of ['semver_eq', 'semver_gt', 'semver_gte', 'semver_lt', 'semver_lte']) {
      expect(scaleTestOf(operator, version)).toBeUndefined()
    }
  })

  it.each([
    ...[
      '01.2.3',
      '1.02.3',
      '1.2.03',
      '1.2.3.4',
      '1.2.',
      '1..3',
      '.1.2',
      '1.2.3 ',
      ' 1.2.3',
      '1.2.x',
    ],
    ...['-1.2.3', '1,2,3', 'vv1.2.3', '1.2.3/', '1.2.3:', '00.0.0', '1.2.000000'],
  ])('The text %s is not a version and has no position', (text) => {
    expect(scaleTestOf('semver_eq', '1')?.scale.positionOf(text)).toBeUndefined()
  })

  it('Addresses of IPv6 are compared without the scale, and those of IPv4 have unsigned positions', () => {
    const { scale } = scaleTestOf('in_cidr', '10.0.0.0/8') ?? {}
    expect(scale?.positionOf('::1')).toBeNaN()
    expect(scale?.positionOf('2001:db8::')).toBeNaN()
    expect(scale?.positionOf('::ffff:1.2.3.4')).toBe(0x01020304)
    expect(scale?.positionOf('0.0.0.0')).toBe(0)
    expect(scale?.positionOf('255.255.255.255')).toBe(2 ** 32 - 1)
  })

  it.each([
    ...[
      ['gt', '1e999'],
      ['gt', 'one'],
      ['lt', ''],
      ['between', '[1]'],
      ['between', '1'],
    ],
    ...[
      ['between', '["a",1]'],
      ['before', 'yesterday'],
      ['after', ''],
      ['semver_gt', '01'],
    ],
    // No scale represents these operators.
    ...[
      ['eq', '1'],
      ['semver_in', '["1.2.3"]'],
      ['semver_major_eq', '1.2.3'],
      ['modulo', '2|0'],
    ],
    ...[
      ['exists', ''],
      ['str_gt', 'a'],
      ['toString', '1'],
    ],
  ])('There is no scale for the condition %s %j', (operator, value) => {
    expect(scaleTestOf(operator ?? '', value ?? '')).toBeUndefined()
  })

  it('A list of networks without IPv4 has no ranges', () => {
    for (const value of ['2001:db8::/32', '["::/0","::ffff:0:0/95"]', '[]', '[["10.0.0.0"]]']) {
      expect(scaleTestOf('in_cidr', value)?.ranges).toEqual([])
    }
  })
})
