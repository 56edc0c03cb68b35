import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../scripts/test-selection.ts'
import { re2 } from './regex.ts'

const isFound = (pattern: string, text: string, ignoreCase: boolean) =>
  re2(pattern, { ignoreCase })?.(text)

describe('re2', () => {
  it('re2 never throws, for any pattern and text', () => {
    const piece = fc.constantFrom(
      '(',
      ')',
      '[',
      ']',
      '{2}',
      '*',
      '|',
      '\\',
      '^',
      'a',
      '\\pL',
      '\ud83d',
    )
    const pattern = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece).map((all) => all.join('')),
    )
    fc.assert(
      fc.property(
        pattern,
        fc.string({ unit: 'binary' }),
        fc.boolean(),
        (source, text, ignoreCase) => {
          const found = isFound(source, text, ignoreCase)
          expect(typeof found).toMatch(/boolean|undefined/)
          expect(isFound(source, text, ignoreCase)).toBe(found)
        },
      ),
      { numRuns: runs(2000) },
    )
  })
})
