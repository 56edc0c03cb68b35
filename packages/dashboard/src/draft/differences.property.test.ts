import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { anyConfiguration, namesById } from '../../test/draft/any-configuration.ts'
import { isSame } from './configuration.ts'
import { configurationDifferences } from './differences.ts'

describe('configurationDifferences', () => {
  it('Two configurations have differences exactly if they are not equal.', () => {
    const options = { names: namesById, isProduction: true, now: 0 }
    fc.assert(
      fc.property(anyConfiguration, anyConfiguration, (before, after) => {
        expect(configurationDifferences(before, structuredClone(before), options)).toEqual([])
        const found = configurationDifferences(before, after, options)
        expect(found.length === 0).toBe(isSame(before, after))
      }),
      { numRuns: runs(100) },
    )
  })
})
