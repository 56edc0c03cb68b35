import { expect, it } from 'vitest'
import type { JsonValue } from '../src/model/json.ts'
import { compileCondition, matchesCondition } from '../src/operators/condition.ts'
import type { Operator } from '../src/operators/operator.ts'
import { re2 } from '../src/regex.ts'

const EXTENSIONS = { regex: re2 }

/** An attribute (`undefined` means missing), an operator, a value, and the expected result. */
export type Row = readonly [JsonValue | undefined, Operator, string, boolean]

/** Returns the result of a condition on an attribute, without segments and flags. */
export function holds(it: JsonValue | undefined, operator: Operator, value: string): boolean {
  return matchesCondition(compileCondition({ attribute: 'it', operator, value }, EXTENSIONS), {
    context: it === undefined ? { kind: 'user' } : { kind: 'user', it },
    isInSegment: () => false,
    servedVariation: () => undefined,
  })
}

/** Defines one test for each row. */
export function table(rows: readonly Row[]): void {
  it.each(rows)(
    'The condition %j %s %j evaluates to %j',
    (attribute, operator, value, expected) => {
      expect(holds(attribute, operator, value)).toBe(expected)
    },
  )
}
