import * as z from 'zod'
import { record } from '../record.ts'
import { text } from '../scalars.ts'

/** One comparison of an attribute with a value. */
export type Condition = z.output<typeof condition>

const attribute = text(512)
const operator = text(64).min(1)
const value = text(65_536)
const negate = z.boolean().exactOptional()

/** As it is stored and answered: the value is text. */
export const condition = record({ attribute, operator, value, negate })

const anyValue = z.codec(z.json(), value.nullable(), {
  decode: (json, context) => {
    if (hasInexactInteger(json)) {
      const message = 'has an integer that cannot be represented exactly; write it as text'
      context.issues.push({ code: 'custom', message, input: json })
    }
    return typeof json === 'string' || json === null ? json : JSON.stringify(json)
  },
  encode: (json) => json,
})

/** Whether JSON has an integer beyond 2^53, which reading its text may have changed. */
function hasInexactInteger(json: z.core.util.JSONType): boolean {
  if (typeof json === 'number') return Number.isInteger(json) && !Number.isSafeInteger(json)
  return typeof json === 'object' && json !== null && Object.values(json).some(hasInexactInteger)
}

/** Operators that take no value. */
const WITHOUT_VALUE: ReadonlySet<string> = new Set(['exists', 'not_exists'])

/**
 * As it may be written: lists, objects and scalars are accepted and become their JSON text. The
 * value may be absent or null for operators that need none.
 */
export const conditionInput = z.codec(
  record({ attribute, operator: operator.default('eq'), value: anyValue.optional(), negate }),
  z.custom<Condition>(),
  {
    decode: ({ value, ...input }, context) => {
      const fault = WITHOUT_VALUE.has(input.operator) ? undefined : missingFault(value)
      if (fault !== undefined) {
        context.issues.push({ code: 'custom', path: ['value'], message: fault, input })
      }
      return { ...input, value: value ?? '' }
    },
    encode: (condition) => condition,
  },
)

function missingFault(value: string | null | undefined): string | undefined {
  if (value === undefined) return 'is required'
  const advice = 'to match a missing attribute, use the operator not_exists'
  return value === null ? `must not be null; ${advice}` : undefined
}

/** The conditions of one rule, or of one segment. */
export const conditions = z.array(condition).max(64)
/** The conditions of one rule, or of one segment, as they may be written. */
export const conditionInputs = z.array(conditionInput).max(64)

/** What the schema of conditions does not show. */
export const CONDITION_NOTES =
  'Conditions whose value cannot mean what its author intends are refused: text that starts with ' +
  '`[` but is not a JSON array, a comma without brackets for `in` and `not_in`, an invalid network ' +
  'or several in one text for `in_cidr` and `not_in_cidr`, integers beyond 2^53 for operators that ' +
  'compare numbers, and `null` for operators other than `exists` and `not_exists`.'
