import type { JsonValue } from '../../src/model/json.ts'
import type { Operator } from '../../src/operators/operator.ts'

/** The maximum length of a condition value that the management plane accepts. */
export const LONGEST_VALUE = 65_536
/** The maximum size of a context in a request body, in bytes. */
const BODY_BYTES = 256 * 1024 - 200
const LONGEST_TEXT = 8192
const MOST_ELEMENTS = 1990

/** Returns a generator of numbers in `0 <= number < end` that are the same in every run. */
function randomNumbers(seed: number): (end: number) => number {
  let state = seed
  return (end) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * end)
  }
}

const random = randomNumbers(1)
const word = (length: number, letters = 26) =>
  Array.from({ length }, () => String.fromCharCode(97 + random(letters))).join('')
const ideograph = () => String.fromCharCode(0x4e00 + random(20_000))

/** Returns the longest JSON array of these elements that fits in a condition value. */
function listOf(elementAt: (index: number) => JsonValue): string {
  const elements: string[] = []
  let length = 2
  for (let index = 0; ; index += 1) {
    const text = JSON.stringify(elementAt(index))
    length += text.length + 1
    if (length > LONGEST_VALUE) return `[${elements.join(',')}]`
    elements.push(text)
  }
}

const LISTS = [
  listOf(() => word(4)),
  listOf((index) => 'a'.repeat(400 - (index % 300)) + 'b'.repeat(1 + (index % 300))),
  JSON.stringify([`${'a'.repeat(LONGEST_VALUE - 10)}b`]),
  listOf(() => ideograph() + word(3)),
  listOf((index) => ({ a: index })),
  listOf((index) => index),
  listOf(() => word(1)),
]
const NETWORKS = [
  listOf((index) => `${index % 250}.${(index * 7) % 250}.${(index * 13) % 250}.0/24`),
  listOf((index) => `2001:db8:${(index % 65_536).toString(16)}::/48`),
]
const VERSIONS = listOf((index) => `${index % 7}.${index % 100}.${index}`)
const PATTERNS = ['(a|b)*a(a|b){38}[cd]', '(?:a?){20}a{20}c', '(x+x+)+y', '([a-z]+[0-9]?){8}X']
const LONG_VERSION = `1.2.3-${'a.'.repeat(30_000)}a`
const LONG_TEXT = 'a'.repeat(LONGEST_VALUE)
const SHARES = listOf((index) => [10 * index, 10 * index + 1]).slice(1, -1)

const onElements = (count: number, operator: string, value: () => JsonValue) =>
  JSON.stringify(Array.from({ length: count }, () => ({ attribute: '', operator, value: value() })))
const ELEMENTS = [
  onElements(64, 'neq', () => word(900)),
  onElements(64, 'not_contains', () => Array.from({ length: 100 }, () => word(6))),
  onElements(1, 'not_contains', () => Array.from({ length: 9000 }, () => word(4))),
  onElements(1, 'elem_match', () => JSON.parse(onElements(60, 'neq', () => word(900)))),
  onElements(1, 'not_matches', () => '(a|b)*a(a|b){38}[cd]'),
  onElements(64, 'not_matches', () => '(a|b)*a(a|b){38}[cd]'),
]

const NUMBER = ['-1e300']
const TEXT_LISTS = LISTS
const EQUAL = [...LISTS, LONG_TEXT, '['.repeat(30_000) + ']'.repeat(30_000)]

/** The most expensive values of each operator. */
export const VALUES: Readonly<Record<Operator, readonly string[]>> = {
  exists: ['x'],
  not_exists: ['x'],
  eq: EQUAL,
  neq: EQUAL,
  eq_ci: EQUAL,
  in: LISTS,
  not_in: LISTS,
  in_ci: LISTS,
  not_in_ci: LISTS,
  contains: TEXT_LISTS,
  not_contains: TEXT_LISTS,
  contains_ci: TEXT_LISTS,
  not_contains_ci: TEXT_LISTS,
  starts_with: TEXT_LISTS,
  not_starts_with: TEXT_LISTS,
  starts_with_ci: TEXT_LISTS,
  not_starts_with_ci: TEXT_LISTS,
  ends_with: TEXT_LISTS,
  not_ends_with: TEXT_LISTS,
  ends_with_ci: TEXT_LISTS,
  not_ends_with_ci: TEXT_LISTS,
  matches: PATTERNS,
  not_matches: PATTERNS,
  matches_ci: PATTERNS,
  str_gt: [LONG_TEXT],
  str_gte: [LONG_TEXT],
  str_lt: [LONG_TEXT],
  str_lte: [LONG_TEXT],
  gt: NUMBER,
  gte: NUMBER,
  lt: NUMBER,
  lte: NUMBER,
  between: ['[-1e300, 1e300]'],
  modulo: ['3|1'],
  before: ['2024-01-01T00:00:00Z'],
  after: ['2024-01-01T00:00:00Z'],
  semver_eq: [LONG_VERSION],
  semver_gt: [LONG_VERSION],
  semver_gte: [LONG_VERSION],
  semver_lt: [LONG_VERSION],
  semver_lte: [LONG_VERSION],
  semver_in: [VERSIONS],
  not_semver_in: [VERSIONS],
  semver_major_eq: [LONG_VERSION],
  semver_minor_eq: [LONG_VERSION],
  in_cidr: NETWORKS,
  not_in_cidr: NETWORKS,
  array_contains_all: LISTS,
  array_contains_none: LISTS,
  array_size: ['{"op": "gt", "value": 3000}'],
  elem_match: ELEMENTS,
  is_type: [listOf((index) => ['string', 'number', 'semver'][index % 3] ?? '')],
  in_bucket: [
    `{"salt": "salt", "ranges": [${SHARES.slice(0, SHARES.lastIndexOf(',[') - 40).replace(/,\[[^\]]*$/, '')}]}`,
  ],
  in_segment: [listOf(() => word(36))],
  not_in_segment: [listOf(() => word(36))],
  flag_is: [listOf(() => word(4))],
  flag_is_not: [listOf(() => word(4))],
}

/** Returns `count` texts of the maximum length with which the context still fits in a request. */
function texts(count: number, make: (length: number) => string, bytesEach = 1): JsonValue {
  const room = Math.floor(BODY_BYTES / count) - 3
  return Array.from({ length: count }, () =>
    make(Math.min(LONGEST_TEXT, Math.floor(room / bytesEach))),
  )
}

const ELEMENT_COUNTS = [31, 500, MOST_ELEMENTS]

/** The most expensive attributes of contexts that are accepted. */
export const ATTRIBUTES: readonly (readonly [name: string, value: JsonValue])[] = [
  ...ELEMENT_COUNTS.flatMap((count) => [
    [`${count} texts of one letter`, texts(count, (length) => 'a'.repeat(length))] as const,
    [`${count} texts of two letters`, texts(count, (length) => word(length, 2))] as const,
    [`${count} texts of all letters`, texts(count, (length) => word(length))] as const,
    [
      `${count} texts of ideographs`,
      texts(count, (length) => Array.from({ length }, ideograph).join(''), 3),
    ] as const,
  ]),
  ['one long text', 'a'.repeat(LONGEST_TEXT)],
  ['short words', Array.from({ length: MOST_ELEMENTS }, () => word(4))],
  ['small objects', Array.from({ length: 990 }, (_, index) => ({ a: -index - 1 }))],
  [
    'long objects of the size of a listed one',
    Array.from({ length: 31 }, () => ({ a: word(LONGEST_TEXT) })),
  ],
  ['lists in a list', Array.from({ length: 64 }, () => Array.from({ length: 28 }, () => word(80)))],
  [
    'one large object',
    [Object.fromEntries(Array.from({ length: 1980 }, (_, index) => [`n-${index}`, word(100)]))],
  ],
  ['IPv4 addresses', addresses((index) => `251.${index % 250}.${index % 200}.9`)],
  ['IPv6 addresses', addresses((index) => `2001:0db8:ffff:1111:2222:3333:4444:${index}`)],
  [
    'mixed addresses',
    addresses((index) => `2001:0db8:ffff:1111:2222:3333:251.200.9.${index % 99}`),
  ],
  ['versions', addresses((index) => `9.9.9-${'a.'.repeat(50)}${index}`)],
  ['long versions', Array.from({ length: 250 }, (_, index) => `9.9.9-${'1.'.repeat(500)}${index}`)],
  ['numbers as text', addresses((index) => `  -0.${'9'.repeat(100)}e-${index % 300}  `)],
  ['long numbers as text', Array.from({ length: 250 }, () => '9'.repeat(1000))],
  ['numbers', Array.from({ length: MOST_ELEMENTS }, (_, index) => -1e308 / (index + 1))],
  ['dates', addresses(() => `2999-12-31T23:59:59.${'9'.repeat(90)}+23:59`)],
  ['the longest text for a pattern', word(1024, 2)],
  ['the longest texts for a pattern', [word(1024, 2), word(1024, 2)]],
  ['a text that a pattern nearly matches', 'x'.repeat(1024)],
]

function addresses(make: (index: number) => string): JsonValue {
  return Array.from({ length: MOST_ELEMENTS }, (_, index) => make(index))
}
