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

describe('Conditions with patterns', () => {
  it('A pattern searches text of up to 1,024 units and arrays with up to 2,048 units of text', () => {
    expect(MAX_SEARCHED_TEXT).toBe(1024)
    expect(MAX_SEARCHED_ARRAY).toBe(2048)
    expect(holds(longest, { operator: 'not_matches' })).toBe(true)
    expect(holds(`${longest.slice(1)}b`, { operator: 'matches' })).toBe(true)
    expect(holds([longest, longest, ''], { operator: 'not_matches' })).toBe(true)
    expect(holds([longest, longest.slice(1), 'b', 7], { operator: 'matches' })).toBe(true)
  })

  it.each(FORMS)('A pattern does not match a longer text, negated or not: %j', (form) => {
    expect(holds(`b${longest}`, form)).toBe(false)
    expect(holds([`b${longest}`], form)).toBe(false)
    expect(holds([longest, longest, 'b'], form)).toBe(false)
  })

  it('A pattern matches an array if it matches any element that is text', () => {
    expect(holds(['a', 'b'], { operator: 'matches' })).toBe(true)
    expect(holds(['a', 1, null], { operator: 'not_matches' })).toBe(true)
    expect(holds([1, null], { operator: 'not_matches' })).toBe(false)
    expect(holds([1, null], { operator: 'matches', negate: true })).toBe(true)
    expect(holds([], { operator: 'not_matches' })).toBe(true)
  })
})
