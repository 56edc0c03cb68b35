import fc from 'fast-check'
import { describe, it } from 'vitest'
import { runs } from '../../../../../scripts/test-selection.ts'
import { scaledImpact } from './impact-numbers.ts'

const samples = fc
  .record({
    evaluated: fc.integer({ min: 1, max: 50_000 }),
    rest: fc.integer({ min: 0, max: 1e6 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ evaluated, rest, share }) => {
    return { changed: Math.floor(evaluated * share), evaluated, inWindow: evaluated + rest }
  })

describe('scaledImpact', () => {
  it('The estimate lies within the bounds, and the bounds include what the sample has shown.', () => {
    fc.assert(
      fc.property(samples, (sample) => {
        const { estimate, low, high } = scaledImpact(sample)
        const unchanged = sample.evaluated - sample.changed
        return (
          low <= estimate &&
          estimate <= high &&
          low >= sample.changed &&
          high <= sample.inWindow - unchanged
        )
      }),
      { numRuns: runs(100) },
    )
  })
})
