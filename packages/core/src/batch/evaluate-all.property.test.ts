import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { contextAt, mixedFlags } from '../../bench/mixed.ts'
import { resultsOf } from '../../test/single-results.ts'
import { evaluateAll, jsonOf, valuesOf } from '../all-flags.ts'
import { valuesHash } from '../fingerprint.ts'
import { compileFlagSet } from '../index.ts'
import { re2 } from '../regex.ts'
import { evaluateTogether } from './evaluate-all.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')

it('Evaluations before and after the rule matrix is compiled have equal results', () => {
  fc.assert(
    fc.property(fc.nat({ max: 1_000_000 }), fc.nat({ max: 999 }), (seed, turn) => {
      const flagSet = compileFlagSet(mixedFlags(30, seed), { extensions: { regex: re2 } })
      const evaluation = evaluateAll(flagSet, contextAt(turn), NOW)
      const together = evaluateTogether(flagSet, contextAt(turn), NOW)
      expect(resultsOf(evaluation)).toEqual(resultsOf(together))
      expect({ ...valuesOf(evaluation) }).toEqual({ ...valuesOf(together) })
      expect(jsonOf(evaluation)).toBe(jsonOf(together))
      expect(valuesHash(evaluation)).toBe(valuesHash(together))
    }),
    { numRuns: runs(30) },
  )
})
