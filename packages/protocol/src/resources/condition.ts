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
export const condition = record({ attribute, operator, value, negate }, {})

const anyValue = z.codec(z.json(), value, {
  decode: (json) => (typeof json === 'string' ? json : JSON.stringify(json)),
  encode: (json) => json,
})

/** Operators that ask about the attribute alone. */
const WITHOUT_VALUE: ReadonlySet<string> = new Set(['exists', 'not_exists'])

/** As it may be written: lists, objects and scalars are accepted and become their JSON text. */
export const conditionInput = z.codec(
  record({ attribute, operator: operator.default('eq'), value: anyValue.optional(), negate }, {}),
  z.custom<Condition>(),
  {
    decode: ({ value, ...input }, context) => {
      if (value === undefined && !WITHOUT_VALUE.has(input.operator)) {
        context.issues.push({ code: 'custom', path: ['value'], message: 'is required', input })
      }
      return { ...input, value: value ?? '' }
    },
    encode: (condition) => condition,
  },
)

/** The conditions of one rule, or of one segment. */
export const conditions = z.array(condition).max(64)
export const conditionInputs = z.array(conditionInput).max(64)
