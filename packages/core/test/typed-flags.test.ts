import { expect, it } from 'vitest'
import { compileFlagSet } from '../src/index.ts'
import { bool, defineFlags, json, number, oneOf, text } from '../src/typed-flags.ts'
import { flagDefinition, flagSetDefinition, ruleDefinition } from './definitions.ts'

// #region define
interface Limits {
  readonly projects: number
}

function isLimits(value: unknown): value is Limits {
  return typeof value === 'object' && value !== null && 'projects' in value
}

const flags = defineFlags({
  'new-checkout': bool(false),
  theme: oneOf('light', 'dark'),
  greeting: text('Welcome'),
  'max-retries': number(3),
  limits: json<Limits>({ projects: 1 }, isLimits),
  banner: json<{ readonly text: string }>(),
})
// #endregion

const themes = [
  { id: 'v-1', key: 'light', value: 'light' },
  { id: 'v-2', key: 'dark', value: 'dark' },
  { id: 'v-3', key: 'sepia', value: 'sepia' },
]
const pro = [{ attribute: 'plan', operator: 'eq', value: 'pro' }]
const theme = flagDefinition('theme', {
  type: 'string',
  variations: themes,
  defaultVariationId: 'v-2',
  rules: [ruleDefinition({ conditions: pro, variationId: 'v-3' })],
})
const flagSet = compileFlagSet(flagSetDefinition([theme]))
const now = 0

it('Defined flags have the types that the program expects', () => {
  const context = { kind: 'user', key: 'user-1' }
  // #region evaluate
  flags.value(flagSet, 'theme', context, now) // 'light' | 'dark'
  flags.value(flagSet, 'new-checkout', context, now) // boolean
  flags.detail(flagSet, 'limits', context, now).value // Limits
  flags.all(flagSet, context, now).banner // { readonly text: string } | null
  // #endregion
  expect({ ...flags.all(flagSet, context, now) }).toEqual({
    'new-checkout': false,
    theme: 'dark',
    greeting: 'Welcome',
    'max-retries': 3,
    limits: { projects: 1 },
    banner: null,
  })
  const sepia = flags.detail(flagSet, 'theme', { ...context, plan: 'pro' }, now)
  expect(sepia).toMatchObject({ value: 'light', reason: 'ERROR', errorCode: 'TYPE_MISMATCH' })
})
