import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../model/json.ts'
import { re2 } from '../regex.ts'
import { compileCondition, matchesCondition } from './condition.ts'
import { MAX_SEARCHED_ARRAY, MAX_SEARCHED_TEXT } from './pattern-comparison.ts'

interface Form {
  readonly operator: string
  readonly negate?: boolean
}

function holds(it: JsonValue, { operator, negate = false }: Form): boolean {
  const definition = { attribute: 'it', operator, value: 'b', negate }
  return matchesCondition(compileCondition(definition, { regex: re2 }), {
    context: { kind: 'user', it },
    isInSegment: () => false,
    servedVariation: () => undefined,
  })
}

const FORMS: readonly Form[] = ['matches', 'not_matches', 'matches_ci'].flatMap((operator) => [
  { operator },
  { operator, negate: true },
])

const longest = 'a'.repeat(MAX_SEARCHED_TEXT)

describe('a condition with a pattern', () => {
  it('searches a text of 1,024 units and an array whose texts have 2,048 units together', () => {
    expect(MAX_SEARCHED_TEXT).toBe(1024)
    expect(MAX_SEARCHED_ARRAY).toBe(2048)
    expect(holds(longest, { operator: 'not_matches' })).toBe(true)
    expect(holds(`${longest.slice(1)}b`, { operator: 'matches' })).toBe(true)
    expect(holds([longest, longest, ''], { operator: 'not_matches' })).toBe(true)
    expect(holds([longest, longest.slice(1), 'b', 7], { operator: 'matches' })).toBe(true)
  })

  it.each(FORMS)('does not hold for a longer text, negated or not: %j', (form) => {
    expect(holds(`b${longest}`, form)).toBe(false)
    expect(holds([`b${longest}`], form)).toBe(false)
    expect(holds([longest, longest, 'b'], form)).toBe(false)
  })

  it('finds its pattern in any element of an array that is text', () => {
    expect(holds(['a', 'b'], { operator: 'matches' })).toBe(true)
    expect(holds(['a', 1, null], { operator: 'not_matches' })).toBe(true)
    expect(holds([1, null], { operator: 'not_matches' })).toBe(false)
    expect(holds([1, null], { operator: 'matches', negate: true })).toBe(true)
    expect(holds([], { operator: 'not_matches' })).toBe(true)
  })
})
