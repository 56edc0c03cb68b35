import { expect, it, vi } from 'vitest'
import { operators } from '../operators/operator.ts'
import { authoringFault } from './authoring-fault.ts'
import { unknownOperator } from './operator-suggestion.ts'

it.each([
  ['equals', 'eq'],
  ['EQ', 'eq'],
  ['==', 'eq'],
  ['notEquals', 'neq'],
  ['$ne', 'neq'],
  ['isOneOf', 'in'],
  ['NOT_IN', 'not_in'],
  ['contain', 'contains'],
  ['STR_CONTAINS', 'contains'],
  ['startsWith', 'starts_with'],
  ['endswith', 'ends_with'],
  ['regex', 'matches'],
  ['greaterThan', 'gt'],
  ['GREATER_THAN_INCLUSIVE', 'gte'],
  ['<=', 'lte'],
  ['isSet', 'exists'],
  ['semVerGreaterThan', 'semver_gt'],
  ['segmentMatch', 'in_segment'],
  ['eqals', 'eq'],
  ['semver_grt', 'semver_gt'],
])('The message for the unknown operator %s suggests %s', (written, meant) => {
  expect(unknownOperator(written)).toBe(
    `There is no operator "${written}". Did you mean "${meant}"?`,
  )
})

it('Every suggested operator exists, and each operator is suggested for its name in capitals.', () => {
  for (const name of operators.keys()) {
    expect(unknownOperator(name.toUpperCase())).toContain(`Did you mean "${name}"?`)
  }
})

it('The message for an operator that resembles no other names common operators.', () => {
  const common = 'Common operators are eq, in, contains, starts_with, gt, before and exists.'
  expect(unknownOperator('frobnicate')).toBe(`There is no operator "frobnicate". ${common}`)
  expect(unknownOperator('')).toBe(`There is no operator "". ${common}`)
})

/** Returns the message for an operator, and the number of steps that compared it with others. */
function comparedOperator(name: string) {
  // The comparison calls `Math.min` in each step.
  const steps = vi.spyOn(Math, 'min')
  const message = unknownOperator(name)
  const { length: count } = steps.mock.calls
  steps.mockRestore()
  return { message, count }
}

it('The message for a long operator is short and is created in few steps.', () => {
  const huge = comparedOperator('x'.repeat(1_000_000))
  expect(huge.message.length).toBeLessThan(320)
  expect(huge.count).toBe(0)
  const longest = comparedOperator('semvergreaterthanoreqxyz')
  expect(longest.message).not.toContain('semver_gte')
  expect(longest.count).toBeGreaterThan(0)
  expect(longest.count).toBeLessThan(10_000)
})

it('The message for a condition on elements names the unknown operator and the suggestion.', () => {
  const value = JSON.stringify([{ attribute: 'sku', operator: 'equals', value: 'x' }])
  expect(authoringFault({ attribute: 'cart', operator: 'elem_match', value })).toBe(
    'Condition 0 in the value of "elem_match": There is no operator "equals". Did you mean "eq"?',
  )
})

it.each(['xy', 'xxxcontains'])(
  'The message for the operator %s suggests no operator, because too much differs.',
  (name) => {
    expect(unknownOperator(name)).toContain('Common operators are')
  },
)
