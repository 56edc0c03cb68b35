import fc from 'fast-check'
import type { EvaluationContext, JsonValue } from '../src/index.ts'

/** Keys of all lengths. Some are not ASCII, and some are too long for the blocks of a key. */
const KEYS: readonly (string | number | null)[] = [
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 253, 254, 255, 256, 257, 300].map((length) => {
    return 'key-XYZ~0'.repeat(40).slice(0, length)
  }),
  ...['ключ', 'é', 'abcé', 'abcd\u0080', '😀', '', 42, -7, null],
]

const elements = (values: readonly JsonValue[]) =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...values) },
    {
      weight: 1,
      arbitrary: fc.array(fc.constantFrom(...values), { maxLength: 3 }) as fc.Arbitrary<JsonValue>,
    },
  )

/** Values of attributes, near the borders of the conditions in `condition-arbitraries.ts`. */
const ATTRIBUTE_VALUES = {
  plan: fc.constantFrom<JsonValue>('pro', 'free', null, ['pro', 7]),
  tags: elements(['pro', 'free', 7, 42, 2 ** 53, '42', true, null, ['pro', 7], { a: 1 }]),
  age: elements([
    ...[17, 42, '42', 42.00000000000001, 41.99999999999999, 18, 0, -0, 5e-324, 0.1 + 0.2, 0.3],
    ...[Number.MAX_VALUE, -Number.MAX_VALUE, ' 42 ', '17.0', '1e999', 'forty', true],
    ...[1_767_225_600_000],
  ]),
  seenAt: elements([
    ...[1_767_225_600_000, 1_767_225_600_001, 1_767_225_599_999.5, '2026-01-01T00:00:00Z'],
    ...['2025-12-31T23:59:59.999999Z', '2026-01-01T01:00:00.001+01:00', '2017-01-01T00:00:00z'],
    ...['1767225600000', 'yesterday', '2026-02-30T00:00:00Z', -1, true],
  ]),
  version: elements([
    ...['1.2.3', '1.2.2', '1.2.4', '1.2', 'V1.2.3', '1.2.3+build', '1.2.3-beta.1', '1.2.3-rc.2'],
    ...['1.2.4-0', '2.0.0', '1.99999.0', '99999.0.0', '100000.0.0', '131071.131071.131071'],
    ...['131072.0.0', '1.2.131072', '12345678901234567890.0.1', '1.2.3.4', '01.2.3', ' 1.2.3', 1.2],
  ]),
  ip: elements([
    ...['10.0.0.0', '9.255.255.255', '10.1.2.3', '10.255.255.255', '11.0.0.0', '127.255.255.255'],
    ...['128.0.0.0', '255.255.255.255', '0.0.0.0', '::ffff:10.1.2.3', '::ffff:a00:0', '::1'],
    ...['2001:db8::1', '2001:db9::', '10.1.2', '10.01.0.0', '10.0.0.0/8', 167_772_160],
  ]),
  account: fc.constantFrom<JsonValue>(...KEYS, 1.5, true),
}

const anyAttributes = fc.record(
  {
    ...ATTRIBUTE_VALUES,
    key: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('user-1', 'user-2', 'user-3', '', 42) },
      { weight: 1, arbitrary: fc.constantFrom(...KEYS) },
    ),
    address: fc.constantFrom<JsonValue>({ country: 'DE' }, 'DE', null),
    ['__proto__']: fc.jsonValue() as fc.Arbitrary<JsonValue>,
  },
  { requiredKeys: [] },
)

const anySingle = fc
  .tuple(fc.constantFrom('user', 'organization', 'device'), anyAttributes)
  .map(([kind, attributes]) => ({ ...attributes, kind }))

const anyMulti = fc
  .record(
    { user: anyAttributes, organization: anyAttributes, device: anyAttributes },
    { requiredKeys: ['user'] },
  )
  .map((parts) => ({ ...parts, kind: 'multi' as const }))

/** Empty, single and multi contexts. */
export const anyContext: fc.Arbitrary<EvaluationContext> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({}) },
  { weight: 5, arbitrary: anySingle },
  { weight: 5, arbitrary: anyMulti },
)
