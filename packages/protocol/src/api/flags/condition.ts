import * as z from 'zod'
import { record } from '../record.ts'
import { text } from '../scalars.ts'

/** A comparison of a context attribute with a value. */
export type Condition = z.output<typeof condition>

const attribute = text(512)
const operator = text(64).min(1)
const value = text(65_536)
const negate = z.boolean().exactOptional()

/** The codec of a stored condition. Its value is text. */
export const condition = record({ attribute, operator, value, negate })

const anyValue = z.codec(z.json(), value.nullable(), {
  decode: (json, context) => {
    if (hasInexactInteger(json)) {
      const message =
        'must not contain an integer that cannot be represented exactly; write it as text'
      context.issues.push({ code: 'custom', message, input: json })
    }
    return typeof json === 'string' || json === null ? json : JSON.stringify(json)
  },
  encode: (json) => json,
})

/**
 * Returns `true` if the value contains an integer beyond 2^53, because parsing can round such
 * integers.
 */
function hasInexactInteger(json: z.core.util.JSONType): boolean {
  if (typeof json === 'number') return Number.isInteger(json) && !Number.isSafeInteger(json)
  return typeof json === 'object' && json !== null && Object.values(json).some(hasInexactInteger)
}

/** Operators that take no value. */
const WITHOUT_VALUE: ReadonlySet<string> = new Set(['exists', 'not_exists'])

/**
 * The codec of a condition in a request. A value that is not text decodes to its JSON text. The
 * value can be absent or `null` if the operator takes no value.
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
      return { ...input, attribute: input.attribute.trim(), value: value ?? '' }
    },
    encode: (condition) => condition,
  },
)

function missingFault(value: string | null | undefined): string | undefined {
  if (value === undefined) return 'is required'
  const advice = 'to match a missing attribute, use the operator not_exists'
  return value === null ? `must not be null; ${advice}` : undefined
}

/** The codec of the stored conditions of one rule or segment. */
export const conditions = z.array(condition).max(64)
/** The codec of the conditions of one rule or segment in a request. */
export const conditionInputs = z.array(conditionInput).max(64)

/** The reference documentation of rules for conditions that the schema does not express. */
export const CONDITION_NOTES =
  'These condition values are refused because they are probably mistakes: text that starts with ' +
  '`[` but is not a JSON array; text with a comma but without brackets for `in` and `not_in`; an ' +
  'invalid network, or several networks in one text, for `in_cidr` and `not_in_cidr`; integers ' +
  'beyond 2^53 for operators that compare numbers; and `null` for operators other than `exists` ' +
  'and `not_exists`.'
