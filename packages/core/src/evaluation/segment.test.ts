import { describe, expect, it } from 'vitest'
import { segmentDefinition as segment } from '../../test/definitions.ts'
import type { EvaluationContext } from '../model/context.ts'
import type { SegmentDefinition } from '../model/definition.ts'
import { compileCondition } from '../operators/condition.ts'
import { compileSegment, matchesSegment } from './segment.ts'

function isIn(definition: SegmentDefinition, context: EvaluationContext): boolean {
  const nobody = { isInSegment: () => false, servedVariation: () => undefined }
  return matchesSegment(compileSegment(definition, compileCondition), { context, ...nobody })
}

const USER = { kind: 'user', key: 'user-1' }

describe('matchesSegment', () => {
  it('puts nobody of whom nothing is known into a segment, not even into one for everybody', () => {
    expect(isIn(segment('s', { force: true }), {})).toBe(false)
    expect(isIn(segment('s', { force: true }), USER)).toBe(true)
  })

  it('is for nobody when it has no rules', () => {
    expect(isIn(segment('s'), USER)).toBe(false)
    expect(isIn(segment('s', { logicalOp: 'NOT' }), USER)).toBe(false)
  })

  it('is for nobody when its rules are joined in a way that nobody knows', () => {
    const rules = [{ attribute: 'key', operator: 'exists', value: '' }]
    const odd = { rules, logicalOp: 'XOR' } as unknown as Partial<SegmentDefinition>
    expect(isIn(segment('s', odd), USER)).toBe(false)
    expect(isIn(segment('s', { rules }), USER)).toBe(true)
  })

  it('takes out whom it excludes, though they are included and it is for everybody', () => {
    const lists = { force: true, included: ['user-1'], excluded: ['user-1'] }
    expect(isIn(segment('s', lists), USER)).toBe(false)
    expect(isIn(segment('s', { ...lists, excluded: ['user-2'] }), USER)).toBe(true)
    expect(isIn(segment('s', { included: ['user-1'] }), { ...USER, key: 'user-2' })).toBe(false)
  })
})
