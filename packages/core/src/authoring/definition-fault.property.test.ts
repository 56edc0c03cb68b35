import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { anyDefinition, anyPoison } from '../../test/definition-arbitraries.ts'
import { pathByGuards, pathBySchema } from '../../test/fault-paths.ts'
import { anyPlants, planted } from '../../test/odd-values.ts'

describe('definitionFaultIncrementally and flagSetDefinitionSchema', () => {
  it('The guards and the schema return the same path of a fault for any definition with replaced, inserted or removed members', () => {
    const numRuns = runs(3000)
    const counts = { accepted: 0, refused: 0 }
    const anyPlanted = fc.tuple(anyDefinition, anyPlants).map((parts) => planted(...parts))
    fc.assert(
      fc.property(fc.oneof(anyDefinition, anyPoison, anyPlanted), (definition) => {
        const path = pathByGuards(definition)
        expect(path).toBe(pathBySchema(definition))
        counts[path === undefined ? 'accepted' : 'refused'] += 1
      }),
      { numRuns },
    )
    expect(counts.accepted).toBeGreaterThan(numRuns / 10)
    expect(counts.refused).toBeGreaterThan(numRuns / 10)
  })
})
