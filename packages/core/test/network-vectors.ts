import type { ConditionDefinition, JsonValue } from '../src/index.ts'
import { flagOf } from './operator-vectors.ts'
import type { VectorFile } from './vector-files.ts'

const GOOD = '["10.0.0.0/8", "2001:db8::/32"]'
const PARTLY_BAD = '["10.0.0.0/8", "10.0.0.0/33"]'
const BAD = '["10.0.0.0/33", "10.0.0.0/8, 11.0.0.0/8"]'

const inNetworks = (value: string) => ({ attribute: 'ip', operator: 'in_cidr', value })
const notInNetworks = (value: string) => ({ attribute: 'ip', operator: 'not_in_cidr', value })
/** Returns a condition on an element of `list`. Inside, the condition has its own negation. */
const ofElement = (condition: ConditionDefinition) => ({
  attribute: 'list',
  operator: 'elem_match',
  value: JSON.stringify([{ ...condition, attribute: '' }]),
})

const CONDITIONS: Readonly<Record<string, ConditionDefinition>> = {
  in: inNetworks(GOOD),
  'in.partly-bad': inNetworks(PARTLY_BAD),
  'in.bad': inNetworks(BAD),
  'in.bad-text': inNetworks('10.0.0.0/33'),
  'in.empty': inNetworks('[]'),
  'in.negate': { ...inNetworks(GOOD), negate: true },
  'in.partly-bad.negate': { ...inNetworks(PARTLY_BAD), negate: true },
  'in.bad.negate': { ...inNetworks(BAD), negate: true },
  'in.empty.negate': { ...inNetworks('[]'), negate: true },
  'not-in': notInNetworks(GOOD),
  'not-in.partly-bad': notInNetworks(PARTLY_BAD),
  'not-in.bad': notInNetworks(BAD),
  'not-in.bad-text': notInNetworks('10.0.0.0/33'),
  'not-in.empty': notInNetworks('[]'),
  'not-in.negate': { ...notInNetworks(GOOD), negate: true },
  'not-in.partly-bad.negate': { ...notInNetworks(PARTLY_BAD), negate: true },
  'element.in.partly-bad': ofElement(inNetworks(PARTLY_BAD)),
  'element.not-in.partly-bad': ofElement(notInNetworks(PARTLY_BAD)),
  'element.in.partly-bad.negate': ofElement({ ...inNetworks(PARTLY_BAD), negate: true }),
  'element.in.partly-bad negate': { ...ofElement(inNetworks(PARTLY_BAD)), negate: true },
}

/** The cases: a name, an address, and the flags that are true. All other flags are false. */
const CASES: readonly (readonly [string, JsonValue, readonly string[]])[] = [
  [
    'an address in the networks',
    '10.1.2.3',
    ['in', 'in.partly-bad', 'not-in.negate', 'element.in.partly-bad'],
  ],
  [
    'an address outside of the networks',
    '11.1.2.3',
    ['in.negate', 'not-in', 'element.in.partly-bad negate'],
  ],
  [
    'text that is no address',
    '10.0.0',
    ['in.negate', 'not-in.negate', 'element.in.partly-bad negate'],
  ],
  ['missing', null, ['in.negate', 'not-in.negate', 'element.in.partly-bad negate']],
]

/** Vectors of network lists with invalid entries. */
export const NETWORK_VECTORS: VectorFile = {
  description:
    'Lists of networks with invalid entries. A flag is true when its one condition holds.',
  flagSet: {
    version: 1,
    flags: Object.entries(CONDITIONS).map((question, index) => flagOf(question, 2000 + index)),
    segments: [],
  },
  cases: CASES.map(([name, ip, held]) => {
    const answers = Object.keys(CONDITIONS).map((key) => [key, held.includes(key)])
    const context = { kind: 'user', key: 'ada', ip, list: [ip] }
    return { name, context, expect: Object.fromEntries(answers) }
  }),
}
