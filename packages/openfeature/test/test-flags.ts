import type { FlagDefinition, RuleDefinition } from '@ff/core'
import { specification } from './gherkin.ts'

/** A flag of `test-flags.json`. */
interface TestFlag {
  readonly disabled?: boolean
  readonly variants: Readonly<Record<string, unknown>>
  readonly defaultVariant?: string | null
  readonly contextEvaluator?: string
}

/** The conditions of the expressions in `test-flags.json`. */
const CONDITIONS: Readonly<Record<string, RuleDefinition['conditions']>> = {
  "email == 'ballmer@macrosoft.com'": [
    { attribute: 'email', operator: 'eq', value: 'ballmer@macrosoft.com' },
  ],
  "!customer && email == 'ballmer@macrosoft.com' && age > 10": [
    { attribute: 'customer', operator: 'eq', value: 'true', negate: true },
    { attribute: 'email', operator: 'eq', value: 'ballmer@macrosoft.com' },
    { attribute: 'age', operator: 'gt', value: '10' },
  ],
}

/**
 * The default values of the scenarios, by the type of the flag. A disabled flag of OpenFeature has no
 * value, so that the default applies; a disabled flag of this server serves its off variation.
 */
const OFF_VALUES: Readonly<Record<string, unknown>> = {
  boolean: false,
  string: 'bye',
  integer: 1,
  float: 0.1,
  object: { a: 1 },
}

/** Returns the definitions of the flags in `test-flags.json` that have a default variant. */
export function testFlags(): readonly FlagDefinition[] {
  const flags: Readonly<Record<string, TestFlag>> = JSON.parse(specification('test-flags.json'))
  return Object.entries(flags).flatMap(([key, flag]) => {
    return typeof flag.defaultVariant === 'string' ? [toDefinition(key, flag)] : []
  })
}

function toDefinition(
  key: string,
  { variants, defaultVariant, disabled = false, contextEvaluator }: TestFlag,
): FlagDefinition {
  const values = { ...variants, ...(disabled && { off: OFF_VALUES[key.split('-')[0] ?? ''] }) }
  const [first] = Object.values(variants)
  const type = typeof first === 'object' ? 'json' : (typeof first as FlagDefinition['type'])
  return {
    id: `flag-${key}`,
    key,
    type,
    isActive: !disabled,
    variations: Object.entries(values).map(([name, value]) => ({
      id: `${key}-${name}`,
      key: name,
      value: typeof value === 'string' ? value : JSON.stringify(value),
    })),
    defaultVariationId: `${key}-${defaultVariant}`,
    offVariationId: disabled ? `${key}-off` : null,
    targets: [],
    prerequisites: [],
    rules: contextEvaluator === undefined ? [] : [toRule(key, contextEvaluator)],
    rollouts: [],
  }
}

/** Converts an expression such as `email == 'a' ? 'zero' : ''`. */
function toRule(key: string, expression: string): RuleDefinition {
  const [, condition = '', variant = ''] = /^(.*) \? '(.*)' : ''$/.exec(expression) ?? []
  const conditions = CONDITIONS[condition]
  if (conditions === undefined)
    throw new Error(`The expression "${expression}" has no conditions here.`)
  return {
    id: `rule-${key}`,
    orderIndex: 0,
    createdAt: '2030-01-01T00:00:00.000Z',
    conditions,
    segmentId: null,
    variationId: `${key}-${variant}`,
    rolloutId: null,
  }
}
