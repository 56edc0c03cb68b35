import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { record } from './record.ts'

const inner = record(
  { variationId: z.string(), keys: z.array(z.string()) },
  { variationId: 'variation_id' },
)
const codec = record(
  { flagId: z.string(), name: z.string().optional(), targets: z.array(inner), metadata: z.json() },
  { flagId: 'flag_id' },
)

describe('record', () => {
  it('renames exactly the listed keys, both ways', () => {
    const wire = {
      flag_id: 'f',
      targets: [{ variation_id: 'v', keys: ['flag_id'] }],
      metadata: { flag_id: 1 },
    }
    const value = {
      flagId: 'f',
      targets: [{ variationId: 'v', keys: ['flag_id'] }],
      metadata: { flag_id: 1 },
    }
    expect(z.decode(codec, wire)).toEqual(value)
    expect(z.encode(codec, value)).toEqual(wire)
  })

  it('names the wire field of a fault, however deep', () => {
    const wire = { flag_id: 5, targets: [{ variation_id: null, keys: [] }], metadata: null }
    const paths = z.safeDecode(codec, wire).error?.issues.map(({ path }) => path)
    expect(paths).toEqual([['flag_id'], ['targets', 0, 'variation_id']])
  })

  it.each(['flagId', 'extra', 'constructor', 'toString'])(
    'refuses the unknown field %s',
    (name) => {
      const wire = { flag_id: 'f', targets: [], metadata: null, [name]: 'f' }
      const issues = z.safeDecode(codec, wire).error?.issues
      expect(issues).toMatchObject([{ code: 'unrecognized_keys', keys: [name] }])
    },
  )

  it('refuses a prototype and keeps it out of what it makes', () => {
    const wire = JSON.parse('{"flag_id":"f","targets":[],"metadata":null,"__proto__":{"name":"x"}}')
    expect(z.safeDecode(codec, wire).success).toBe(false)
  })

  it('leaves out what it does not know when it encodes', () => {
    const value = { flagId: 'f', targets: [], metadata: null, hash: 'secret' }
    expect(z.encode(codec, value)).toEqual({ flag_id: 'f', targets: [], metadata: null })
  })

  it('round-trips whatever it accepts', () => {
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
    )
  })
})
