import type { ConditionDefinition, EvaluationContext } from '../src/index.ts'
import { flagOf } from './operator-vectors.ts'
import type { VectorFile } from './vector-files.ts'

const HIGH = '\ud83d'
const LOW = '\ude00'
/** An object with an own property `__proto__`, which an object literal cannot define. */
const OWN_PROTO = JSON.parse('{"__proto__": "x"}') as { readonly [name: string]: string }

/** Conditions that are error-prone: names of built-in properties, and text beyond ASCII. */
const CONDITIONS: Readonly<Record<string, ConditionDefinition>> = {
  'own __proto__': { attribute: '__proto__', operator: 'eq', value: 'x' },
  'own constructor': { attribute: 'constructor', operator: 'exists', value: '' },
  'toString in a path': { attribute: 'a.toString', operator: 'exists', value: '' },
  'no hasOwnProperty': { attribute: 'hasOwnProperty', operator: 'not_exists', value: '' },
  'listed __proto__': { attribute: 'name', operator: 'in', value: '["__proto__", "constructor"]' },
  'equal objects': { attribute: 'a', operator: 'eq', value: '{"__proto__": "x"}' },
  'type of that name': { attribute: 'name', operator: 'matches', value: '^__\\w+__$' },
  'element of that name': {
    attribute: 'list',
    operator: 'elem_match',
    value: '[{"attribute": "__proto__", "operator": "eq", "value": "x"}]',
  },
  'a pointer': { attribute: '/a~1b/~0c', operator: 'eq', value: 'd' },
  'not normalised': { attribute: 'name', operator: 'eq', value: 'caf\u00e9' },
  'one code point': { attribute: 'name', operator: 'matches', value: '^.$' },
  'an emoji': { attribute: 'name', operator: 'eq', value: HIGH + LOW },
  'half an emoji': { attribute: 'name', operator: 'eq', value: HIGH },
  'contains half an emoji': { attribute: 'name', operator: 'contains', value: LOW },
  'after U+D7FF': { attribute: 'name', operator: 'str_gt', value: '\ud7ff' },
  'from U+E000 on': { attribute: 'name', operator: 'str_gte', value: '\ue000' },
  'after U+FFFF': { attribute: 'name', operator: 'str_gt', value: '\uffff' },
  'no case of dots': { attribute: 'name', operator: 'eq_ci', value: 'I' },
  'an organization': { attribute: 'kind', operator: 'eq', value: 'organization' },
  'of any kind': { attribute: 'name', operator: 'exists', value: '' },
  'of the organization': { attribute: 'organization.name', operator: 'starts_with', value: 'A' },
  'by organization': {
    attribute: 'organization.key',
    operator: 'in_bucket',
    value: '{"salt": "checkout", "ranges": [[88313, 88314]]}',
  },
}

const CASES: readonly (readonly [string, EvaluationContext, readonly string[]])[] = [
  ['nothing is inherited', { kind: 'user', a: {}, list: [{}] }, ['no hasOwnProperty']],
  [
    'own names are names like any other',
    {
      ...{ kind: 'user', constructor: 0, hasOwnProperty: 1, name: '__proto__' },
      ...{ a: OWN_PROTO, list: [OWN_PROTO] },
    },
    [
      ...['own constructor', 'listed __proto__', 'equal objects', 'type of that name'],
      ...['element of that name', 'of any kind'],
    ],
  ],
  [
    'an attribute called __proto__',
    Object.defineProperty({ kind: 'user', hasOwnProperty: null }, '__proto__', {
      value: 'x',
      enumerable: true,
    }),
    ['own __proto__', 'no hasOwnProperty'],
  ],
  [
    'escapes in a pointer',
    { kind: 'user', 'a/b': { '~c': 'd' } },
    ['a pointer', 'no hasOwnProperty'],
  ],
  [
    'a composed letter',
    { kind: 'user', name: 'caf\u00e9' },
    ['not normalised', 'no hasOwnProperty', 'of any kind'],
  ],
  [
    'a decomposed letter',
    { kind: 'user', name: 'cafe\u0301' },
    ['no hasOwnProperty', 'of any kind'],
  ],
  [
    'an emoji',
    { kind: 'user', name: HIGH + LOW },
    [
      ...['an emoji', 'one code point', 'contains half an emoji'],
      ...['after U+D7FF', 'from U+E000 on', 'after U+FFFF'],
      ...['no hasOwnProperty', 'of any kind'],
    ],
  ],
  [
    'a lone surrogate',
    { kind: 'user', name: HIGH },
    ['half an emoji', 'one code point', 'after U+D7FF', 'no hasOwnProperty', 'of any kind'],
  ],
  [
    'a dotted I',
    { kind: 'user', name: '\u0130' },
    ['no case of dots', 'one code point', 'no hasOwnProperty', 'of any kind'],
  ],
  [
    'several kinds',
    { kind: 'multi', user: { key: 'user-1' }, organization: { key: 'user-2', name: 'Acme' } },
    [
      'an organization',
      'of any kind',
      'of the organization',
      'by organization',
      'no hasOwnProperty',
    ],
  ],
]

/** Vectors of error-prone names and texts. The expected results are written by hand. */
export const ODD_VECTORS: VectorFile = {
  description:
    'Names and texts that are easily mangled. A flag is true when its one condition holds.',
  flagSet: {
    version: 1,
    flags: Object.entries(CONDITIONS).map((question, index) => flagOf(question, 1000 + index)),
    segments: [],
  },
  cases: CASES.map(([name, context, held]) => {
    const answers = Object.keys(CONDITIONS).map((key) => [key, held.includes(key)])
    return { name, context, expect: Object.fromEntries(answers) }
  }),
}
