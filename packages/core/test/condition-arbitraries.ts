import fc from 'fast-check'
import type { ConditionDefinition } from '../src/index.ts'

const WORDS = ['pro', 'free', 'DE', '42', '9007199254740992', 'user-1', 'user-2', '']
const LISTS = [
  ...['["pro","DE"]', '["pro",42,"user-1"]', '["free","pro",["pro",7]]', '[]', '[null]'],
  ...['["free",1e999,true]', '["user-1","user-1","user-2",-0]', '["9007199254740992","pro"]'],
]

/** Conditions on certain attributes, whose values are near each other's borders. */
interface Family {
  readonly attributes: readonly string[]
  readonly operators: readonly string[]
  /** Values of conditions. */
  readonly values: readonly string[]
  /** Values that make a condition invalid. */
  readonly broken: readonly string[]
}

const TEXTS = ['plan', 'user.key', 'organization.plan', 'address.country', 'toString', 'tags']
const NUMBERS = ['age', 'user.age']
const TIMES = ['seenAt', 'age']
const VERSIONS = ['version', 'user.version']
const ADDRESSES = ['ip', 'organization.ip']
const ANY = [...TEXTS, ...NUMBERS, 'seenAt', 'version', 'ip']

/** Conditions on texts, which are frequent, and on the presence of attributes. */
const TEXT_FAMILIES: readonly Family[] = [
  {
    attributes: [...TEXTS, 'age'],
    operators: [
      ...['eq', 'eq', 'neq', 'in', 'in', 'in', 'not_in', 'not_in', 'exists', 'not_exists', 'in_ci'],
    ],
    values: [...WORDS, ...LISTS],
    broken: ['['],
  },
  {
    attributes: ANY,
    operators: ['eq', 'in', 'not_in', 'exists', 'not_exists'],
    values: [...WORDS, '["1.2.3","42","10.1.2.3"]', '2026-01-01T00:00:00Z'],
    broken: ['[0,'],
  },
]

const OTHER_FAMILIES: readonly Family[] = [
  {
    attributes: NUMBERS,
    operators: ['gt', 'gte', 'lt', 'lte'],
    values: [
      ...['17', '42', ' 4.2e1 ', '42.00000000000001', '41.99999999999999', '0', '-0', '5e-324'],
      ...['-5e-324', '.3', '0.30000000000000004', '1.7976931348623157e308', '-1e308'],
    ],
    broken: ['1e999', 'NaN', 'forty', ''],
  },
  {
    attributes: NUMBERS,
    operators: ['between'],
    values: [
      ...['[17,42]', '[42,42]', '[-0,0]', '["17","42.00000000000001"]', '[-1e308,1e308]'],
      ...['[5e-324,17]', '[0.3,0.30000000000000004]', '[18,41.99999999999999]'],
    ],
    broken: ['[42,17]', '[17]', '[17,1e999]', '[1,2,3]', '17'],
  },
  {
    attributes: TIMES,
    operators: ['before', 'after'],
    values: [
      ...['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.001Z', '2025-12-31T23:59:59.999Z'],
      ...['2026-01-01T05:30:00+05:30', '2025-12-31t19:00:00.0009-05:00', '1767225600000'],
      ...['1767225600000.5', '2016-12-31T23:59:60Z', '0000-01-01T00:00:00Z', '42'],
    ],
    broken: ['yesterday', '2026-02-30T00:00:00Z', '2026-01-01'],
  },
  {
    attributes: VERSIONS,
    operators: [
      ...['semver_eq', 'semver_gt', 'semver_gte', 'semver_lt', 'semver_lte'],
      ...['semver_major_eq', 'semver_minor_eq'],
    ],
    values: [
      ...['1.2.3', '1.2.4', '1.2', 'v1.2.3', '1.2.3+build.7', '1.2.3-beta.1', '1.2.3-rc', '2'],
      ...['0.0.0', '99999.0.0', '100000.0.0', '131071.131071.131071', '131072.0.0', '1.2.131072'],
      ...['12345678901234567890.0.0'],
    ],
    broken: ['1.2.3.4', '01.2.3', '1.2.', ''],
  },
  {
    attributes: VERSIONS,
    operators: ['semver_in', 'not_semver_in'],
    values: ['["1.2.3","2"]', '["v1.2.3-beta.1","131072"]', '1.2', '[]'],
    broken: ['["1.2.3","01"]', '[["1"]]'],
  },
  {
    attributes: ADDRESSES,
    operators: ['in_cidr', 'not_in_cidr'],
    values: [
      ...['10.0.0.0/8', '["10.1.0.0/16","10.0.0.0/8"]', '["10.255.255.255","11.0.0.0/32"]'],
      ...['0.0.0.0/0', '255.255.255.255', '::ffff:10.0.0.0/104', '::ffff:0:0/95', '::/0'],
      ...['2001:db8::/32', '["2001:db8::/32","10.1.2.3"]', '128.0.0.0/1', '["0.0.0.0/1"]'],
    ],
    broken: ['["10.0.0.0/8","nonsense"]', 'nonsense', '[]', '10.0.0.0/33', '10.0.0.01/8'],
  },
  {
    attributes: TEXTS,
    operators: [
      ...['contains', 'not_contains', 'starts_with', 'not_starts_with', 'ends_with'],
      ...['not_ends_with', 'contains_ci', 'str_gt', 'str_lte'],
    ],
    values: [...WORDS, '["pr","D"]', '["o","ee","-1"]', '["ro",""]'],
    broken: ['[["pro"]]'],
  },
  {
    attributes: ['tags', 'plan'],
    operators: ['array_contains_all', 'array_contains_none'],
    values: ['["pro"]', '["pro",7]', '[42,"42"]', '[]', '["free","pro"]', '[["pro",7]]'],
    broken: ['pro', '{}'],
  },
  {
    attributes: ['tags', 'plan'],
    operators: ['array_size'],
    values: ['0', '2', '{"op":"gt","value":1}', '{"op":"between","value":[1,2]}'],
    broken: ['two', '{}'],
  },
  {
    attributes: ['user.key', 'account', 'age', 'missing'],
    operators: ['in_bucket'],
    values: [
      '{"salt":"aB3dE5gH7jK","ranges":[[0,50000]]}',
      '{"salt":"","ranges":[[0,30000],[60000,100000]]}',
      '{"salt":"müsli","ranges":[]}',
    ],
    broken: ['{"salt":"aB3dE5gH7jK"}', '{"salt":"a","ranges":[[7]]}', '[]'],
  },
  {
    attributes: ANY,
    operators: ['is_type'],
    values: ['["string","array"]', 'number', 'semver'],
    broken: ['["text"]'],
  },
]

const FAMILIES = [...TEXT_FAMILIES, ...OTHER_FAMILIES]

/** Returns mostly valid values, and sometimes broken ones. */
export function mostly<Value>(
  sound: readonly Value[],
  broken: readonly Value[],
): fc.Arbitrary<Value> {
  const anyBroken = fc.constantFrom(...broken)
  if (sound.length === 0) return anyBroken
  return fc.oneof(
    { weight: 150, arbitrary: fc.constantFrom(...sound) },
    { weight: 1, arbitrary: anyBroken },
  )
}

function conditionOf(family: Family, attributes = family.attributes) {
  return fc.record({
    attribute: fc.constantFrom(...attributes),
    operator: mostly(family.operators, ['nonsense']),
    value: mostly(family.values, family.broken),
  })
}

const conditionsOf = (families: readonly Family[]) =>
  fc.oneof(...families.map((family) => conditionOf(family)))

/** Conditions on attributes. The ones that compare text are frequent. */
export const anyAttributeCondition: fc.Arbitrary<ConditionDefinition> = fc.oneof(
  { weight: 2, arbitrary: conditionsOf(TEXT_FAMILIES) },
  { weight: 3, arbitrary: conditionsOf(OTHER_FAMILIES) },
)

/** Two conditions of the same family on the same attribute. */
export const anyPairOfConditions: fc.Arbitrary<readonly ConditionDefinition[]> = fc.oneof(
  ...FAMILIES.map((family) => {
    const condition = conditionOf(family, family.attributes.slice(0, 1))
    return fc.tuple(condition, condition)
  }),
)
