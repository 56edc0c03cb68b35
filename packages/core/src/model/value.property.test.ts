import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { isFlagError } from './errors.ts'
import { type FlagValueType, parseFlagValue } from './value.ts'

describe('parseFlagValue', () => {
  it('A parsed JSON value can be serialized to the same JSON again', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const value = parseFlagValue('json', text)
        expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)))
      }),
      { numRuns: runs(100) },
    )
  })

  it('parseFlagValue throws only FlagErrors, for any text', () => {
    const types = fc.constantFrom<FlagValueType>('boolean', 'string', 'number', 'json')
    fc.assert(
      fc.property(types, fc.string(), (type, text) => {
        try {
          parseFlagValue(type, text)
        } catch (error) {
          expect(isFlagError(error)).toBe(true)
        }
      }),
      { numRuns: runs(100) },
    )
  })
})
