import { describe, expect, it } from 'vitest'
import { segmentDefinition as segment } from '../../test/definitions.ts'
import type { EvaluationContext } from '../model/context.ts'
import type { SegmentDefinition } from '../model/definition.ts'
import { ConditionCompiler } from '../operators/condition.ts'
import { CompiledSegment, matchesSegment } from './segment.ts'

function isIn(definition: SegmentDefinition, context: EvaluationContext): boolean {
  const none = { isInSegment: () => false, servedVariation: () => undefined }
  return matchesSegment(new CompiledSegment(definition, new ConditionCompiler({})), {
    context,
    ...none,
  })
}

const USER = { kind: 'user', key: 'user-1' }

describe('matchesSegment', () => {
  it('The empty context is in no segment, not even in one that includes every context', () => {
    expect(isIn(segment('s', { force: true }), {})).toBe(false)
    expect(isIn(segment('s', { force: true }), USER)).toBe(true)
  })

  it('A segment without rules matches no context', () => {
    expect(isIn(segment('s'), USER)).toBe(false)
    expect(isIn(segment('s', { logicalOp: 'NOT' }), USER)).toBe(false)
  })

  it('A segment with an unknown logical operator matches no context', () => {
    const rules = [{ attribute: 'key', operator: 'exists', value: '' }]
    const odd = { rules, logicalOp: 'XOR' } as unknown as Partial<SegmentDefinition>
    expect(isIn(segment('s', odd), USER)).toBe(false)
    expect(isIn(segment('s', { rules }), USER)).toBe(true)
  })

  it.each([
    ['AND', [true, false, false]],
    ['OR', [true, true, false]],
    ['NOT', [false, false, true]],
  ] as const)(
    'A segment with the operator %s matches all, some or none of its rules: %j',
    (...row) => {
      const [logicalOp, expected] = row
      const rules = ['a', 'b'].map((attribute) => ({ attribute, operator: 'exists', value: '' }))
      const contexts = [{ ...USER, a: 1, b: 1 }, { ...USER, b: 1 }, USER]
      const found = contexts.map((context) => isIn(segment('s', { rules, logicalOp }), context))
      expect(found).toEqual(expected)
    },
  )

  it('Excluded keys take precedence over included keys and over the inclusion of every context', () => {
    const lists = { force: true, included: ['user-1'], excluded: ['user-1'] }
    expect(isIn(segment('s', lists), USER)).toBe(false)
    expect(isIn(segment('s', { ...lists, excluded: ['user-2'] }), USER)).toBe(true)
    expect(isIn(segment('s', { included: ['user-1'] }), { ...USER, key: 'user-2' })).toBe(false)
  })
})
