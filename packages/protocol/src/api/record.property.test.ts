import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { runs } from '../../../../scripts/test-selection.ts'
import { record } from './record.ts'

const inner = record({ variationId: z.string(), keys: z.array(z.string()) })
const codec = record({
  flagId: z.string(),
  name: z.string().optional(),
  targets: z.array(inner),
  metadata: z.json(),
})

describe('record', () => {
  it('A record encodes every decoded value to the original wire value', () => {
    const target = fc.record({ variation_id: fc.string(), keys: fc.array(fc.string()) })
    const wires = fc.record(
      {
        flag_id: fc.string(),
        name: fc.string(),
        targets: fc.array(target),
        metadata: fc.constant(null),
      },
      { requiredKeys: ['flag_id', 'targets', 'metadata'] },
    )
    fc.assert(
      fc.property(wires, (wire) => {
        expect(z.encode(codec, z.decode(codec, wire))).toEqual({ ...wire })
      }),
      { numRuns: runs(100) },
    )
  })
})
