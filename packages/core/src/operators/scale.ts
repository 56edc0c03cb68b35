import type { JsonValue } from '../model/json.ts'
import { parseTimestamp } from '../model/timestamp.ts'
import { parseAddress, parseNetwork } from './cidr.ts'
import { asFinite, asNumber, parseArray, parseDecimal, parsed, parseTexts } from './comparison.ts'
import { parseSemver } from './semver.ts'

/**
 * A mapping of values to numbers, their *positions*, so that a condition matches the values with
 * positions in certain ranges. A binary search for one position then decides many conditions.
 */
export interface Scale {
  readonly name: 'number' | 'timestamp' | 'version' | 'address'
  /**
   * Returns the position of a value, which is neither an array nor an object. `undefined` if the
   * operators of the scale do not compare such values. `NaN` if the value must be compared without
   * the scale.
   */
  readonly positionOf: (value: JsonValue) => number | undefined
}

/** A range of positions: `from <= position < to`. */
export interface ScaleRange {
  readonly from: number
  readonly to: number
}

/** The positions for which the test of a condition is `true`. */
export interface ScaleTest {
  readonly scale: Scale
  readonly ranges: readonly ScaleRange[]
}

const numbers: Scale = { name: 'number', positionOf: asNumber }
const timestamps: Scale = {
  name: 'timestamp',
  positionOf: (value) => parsed(value, parseTimestamp) ?? asFinite(value),
}
const versions: Scale = {
  name: 'version',
  positionOf: (value) => parsed(value, positionOfVersion),
}
const addresses: Scale = {
  name: 'address',
  positionOf: (value) => {
    const address = parsed(value, parseAddress)
    return address && positionOfAddress(address)
  },
}

/** Each number of a version takes 17 bits, so that the position is an exact integer. */
const VERSION_BASE = 2 ** 17

/** Returns `NaN` for a pre-release and for large numbers, and `undefined` for other text. */
function positionOfVersion(text: string): number | undefined {
  return positionOfRelease(text) ?? positionOfAnyVersion(text)
}

/** Reads a version of three short numbers, which is much faster than the regular expression. */
function positionOfRelease(text: string): number | undefined {
  let position = 0
  let at = 0
  for (let count = 0; count < 3; count += 1) {
    const first = at
    let number = 0
    for (; at - first < 5; at += 1) {
      const digit = text.charCodeAt(at) - 0x30
      if (!(digit >= 0 && digit <= 9)) break
      number = 10 * number + digit
    }
    const hasLeadingZero = at - first > 1 && text.charCodeAt(first) === 0x30
    if (at === first || hasLeadingZero) return undefined
    position = VERSION_BASE * position + number
    if (count < 2 && text.charCodeAt(at) !== 0x2e) return undefined
    if (count < 2) at += 1
  }
  return at === text.length ? position : undefined
}

function positionOfAnyVersion(text: string): number | undefined {
  const version = parseSemver(text)
  if (version === undefined) return undefined
  const parts = [version.major, version.minor, version.patch].map(Number)
  if (version.prerelease !== '' || parts.some((part) => part >= VERSION_BASE)) return Number.NaN
  return parts.reduce((position, part) => VERSION_BASE * position + part, 0)
}

function positionOfAddress([word = 0, ...others]: readonly number[]): number {
  return others.length === 0 ? word >>> 0 : Number.NaN
}

type Ranges = readonly ScaleRange[]
type RangesOf = (position: number) => Ranges

const above: RangesOf = (position) => [{ from: successorOf(position), to: Infinity }]
const atLeast: RangesOf = (position) => [{ from: position, to: Infinity }]
const below: RangesOf = (position) => [{ from: -Infinity, to: position }]
const atMost: RangesOf = (position) => [{ from: -Infinity, to: successorOf(position) }]
const equal: RangesOf = (position) => [{ from: position, to: successorOf(position) }]

/** The scale of each operator, and the function that parses the value of a condition. */
const OPERATORS: ReadonlyMap<string, readonly [Scale, (value: string) => Ranges | undefined]> =
  new Map([
    ['gt', [numbers, from(parseDecimal, above)]],
    ['gte', [numbers, from(parseDecimal, atLeast)]],
    ['lt', [numbers, from(parseDecimal, below)]],
    ['lte', [numbers, from(parseDecimal, atMost)]],
    ['between', [numbers, rangesBetween]],
    ['before', [timestamps, from(timestampOf, below)]],
    ['after', [timestamps, from(timestampOf, above)]],
    ['semver_eq', [versions, from(positionOfVersion, equal)]],
    ['semver_gt', [versions, from(positionOfVersion, above)]],
    ['semver_gte', [versions, from(positionOfVersion, atLeast)]],
    ['semver_lt', [versions, from(positionOfVersion, below)]],
    ['semver_lte', [versions, from(positionOfVersion, atMost)]],
    ['in_cidr', [addresses, rangesOfNetworks]],
    ['not_in_cidr', [addresses, rangesOfNetworks]],
  ])

/**
 * Returns the scale and the ranges of a valid condition on an attribute. `undefined` if no scale
 * represents the condition.
 */
export function scaleTestOf(operator: string, value: string): ScaleTest | undefined {
  const entry = OPERATORS.get(operator)
  const ranges = entry?.[1](value)
  return entry && ranges && { scale: entry[0], ranges }
}

function from(parse: (value: string) => number | undefined, rangesOf: RangesOf) {
  return (value: string): Ranges | undefined => {
    const position = parse(value)
    // NaN is not a position.
    return position === undefined || Number.isNaN(position) ? undefined : rangesOf(position)
  }
}

function timestampOf(value: string): number | undefined {
  return parseTimestamp(value) ?? parseDecimal(value)
}

function rangesBetween(value: string): Ranges | undefined {
  const [low, high] = parseArray(value)?.map(asNumber) ?? []
  return low === undefined || high === undefined
    ? undefined
    : [{ from: low, to: successorOf(high) }]
}

/** Returns the ranges of IPv4 networks. An IPv6 network contains no IPv4 address. */
function rangesOfNetworks(value: string): Ranges {
  return (parseTexts(value) ?? []).flatMap((text) => {
    const { address = [], masks = [] } = parseNetwork(text) ?? {}
    if (address.length !== 1) return []
    const first = (address[0] ?? 0) >>> 0
    return { from: first, to: first + (~(masks[0] ?? 0) >>> 0) + 1 }
  })
}

const float = new Float64Array(1)
const bits = new BigInt64Array(float.buffer)

/** Returns the smallest number that is greater than a finite number. */
function successorOf(number: number): number {
  if (number === 0) return Number.MIN_VALUE
  float[0] = number
  bits[0] = (bits[0] ?? 0n) + (number > 0 ? 1n : -1n)
  return float[0] ?? Number.NaN
}
