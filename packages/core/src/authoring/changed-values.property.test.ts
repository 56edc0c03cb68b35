import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { anyContext } from '../../test/context-arbitraries.ts'
import { anyChange, anyNow } from '../../test/definition-arbitraries.ts'
import { valuesOf } from '../all-flags.ts'
import { evaluateTogether } from '../batch/evaluate-all.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import type { FlagSetDefinition } from '../model/definition.ts'
import { jsonEquals } from '../model/json.ts'
import type { FlagValues } from '../model/value.ts'
import { changedValues } from './changed-values.ts'

describe('changedValues', () => {
  it('changedValues returns changes that turn the old values into the new ones', () => {
    fc.assert(
      fc.property(anyChange, anyContext, anyNow, ([old, fresh], context, now) => {
        const valuesFor = (definition: FlagSetDefinition) =>
          valuesOf(evaluateTogether(compileFlagSet(definition), context, now))
        const [before, after] = [valuesFor(old), valuesFor(fresh)]
        const changes = changedValues(before, after)
        expect(patched(before, changes)).toEqual(new Map(Object.entries(after)))
        for (const key of Object.keys(changes.flags)) {
          const [was, is] = [before[key], after[key]]
          expect(was !== undefined && is !== undefined && jsonEquals(was, is)).toBe(false)
        }
      }),
      { numRuns: runs(250) },
    )
  })
})

function patched(before: FlagValues, { flags, removed }: ReturnType<typeof changedValues>) {
  const values = new Map(Object.entries(before))
  for (const key of removed) values.delete(key)
  for (const [key, value] of Object.entries(flags)) values.set(key, value)
  return values
}
