import { describe, expect, it } from 'vitest'
import { flagDefinition, flagSetDefinition } from '../../test/definitions.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import { answerStep, variationKeyOf } from './explanation.ts'

describe('The steps of an explanation', () => {
  it('variationKeyOf returns the key of a variation, or its id if the flag does not have the variation', () => {
    const variations = [
      { id: 'v-1', key: 'green', value: 'true' },
      { id: 'v-2', key: 'blue', value: 'false' },
    ]
    const definition = flagDefinition('a', { variations })
    const flag = compileFlagSet(flagSetDefinition([definition])).flags.get('a')
    expect(flag && variationKeyOf(flag, 'v-2')).toBe('blue')
    expect(flag && variationKeyOf(flag, 'v-3')).toBe('v-3')
  })

  it('The last step names the served variation and the reason', () => {
    const detail = { flagKey: 'a', value: true, variationId: 'v', reason: 'SPLIT' } as const
    expect(answerStep({ ...detail, variationKey: 'on' })).toEqual({
      type: 'answer',
      outcome: 'held',
      variationKey: 'on',
      text: 'Serves "on" (SPLIT).',
    })
    const nothing = { ...detail, variationKey: null, errorCode: 'MALFORMED_FLAG' } as const
    expect(answerStep(nothing).text).toBe(
      'Serves nothing, so the value is null (SPLIT, MALFORMED_FLAG).',
    )
  })
})
