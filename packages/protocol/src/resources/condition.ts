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

const anyValue = z.codec(z.json().optional(), value, {
  decode: (json) =>
    typeof json === 'string' ? json : json === undefined ? '' : JSON.stringify(json),
  encode: (json) => json,
})

/** As it may be written: lists, objects and scalars are accepted and become their JSON text. */
export const conditionInput = record(
  { attribute, operator: operator.default('eq'), value: anyValue, negate },
  {},
)

/** The conditions of one rule, or of one segment. */
export const conditions = z.array(condition).max(64)
export const conditionInputs = z.array(conditionInput).max(64)
