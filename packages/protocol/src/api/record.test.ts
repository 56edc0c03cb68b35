import { describe, expect, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import { camelCaseRecord, changesOf, readOnlyFieldsOf, record, type WireName } from './record.ts'

const inner = record({ variationId: z.string(), keys: z.array(z.string()) })
const codec = record({
  flagId: z.string(),
  name: z.string().optional(),
  targets: z.array(inner),
  metadata: z.json(),
})

describe('changesOf', () => {
  const shape = { id: z.uuid(), flagId: z.int(), name: z.string(), createdAt: z.iso.date() }
  const body = changesOf(shape, { name: z.string().optional() }, { createdAt: 'made' })

  it('The body of a change contains the writable fields and accepts any read-only value', () => {
    expect(z.decode(body, { name: 'a' })).toEqual({ name: 'a' })
    const wire = { name: 'a', flag_id: 'not a number', made: '2030-01-01' }
    const decoded = { name: 'a', flagId: 'not a number', createdAt: '2030-01-01' }
    expect(z.decode(body, wire as never)).toEqual(decoded)
    expect(z.safeDecode(body, { flagId: 1 } as never).success).toBe(false)
    expect(z.safeDecode(body, { name: 1 } as never).success).toBe(false)
    expectTypeOf<z.output<typeof body>>().toEqualTypeOf<{ name?: string | undefined }>()
  })

  it('readOnlyFieldsOf returns the wire names of the fields that are not writable', () => {
    const expected = { id: 'id', flagId: 'flag_id', createdAt: 'made' }
    expect(Object.fromEntries(readOnlyFieldsOf(body))).toEqual(expected)
    expect(readOnlyFieldsOf(record(shape)).size).toBe(0)
  })
})

describe('record', () => {
  it('A record renames only its declared fields when it decodes and encodes', () => {
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

  it('A record derives the wire names of all its fields', () => {
    const dates = record({
      id: z.int(),
      createdAt: z.int(),
      lastSeenAtHour: z.int(),
      top5Ids: z.int(),
    })
    const wire = { id: 1, created_at: 2, last_seen_at_hour: 3, top5_ids: 4 }
    expect(z.decode(dates, wire)).toEqual({ id: 1, createdAt: 2, lastSeenAtHour: 3, top5Ids: 4 })
  })

  it('A record takes the wire name of a field from its exceptions', () => {
    const shape = { environmentId: z.string(), eventType: z.string().optional() }
    const excepted = record(shape, { environmentId: 'env_id' })
    expect(z.decode(excepted, { env_id: 'e', event_type: 't' })).toEqual({
      environmentId: 'e',
      eventType: 't',
    })
    expect(z.safeDecode(excepted, { environment_id: 'e' } as never).success).toBe(false)
    expectTypeOf<z.input<typeof excepted>>().toEqualTypeOf<{
      env_id: string
      event_type?: string | undefined
    }>()
  })

  it('The input type of a record has the wire names', () => {
    expectTypeOf<WireName<'newFlagsClientVisible'>>().toEqualTypeOf<'new_flags_client_visible'>()
    expectTypeOf<z.input<typeof inner>>().toEqualTypeOf<{ variation_id: string; keys: string[] }>()
    expectTypeOf<z.output<typeof inner>>().toEqualTypeOf<{ variationId: string; keys: string[] }>()
  })

  it('A camelCaseRecord keeps all names except the exceptions', () => {
    const shape = { flagId: z.string(), environmentId: z.string() }
    const params = camelCaseRecord(shape, { environmentId: 'envId' })
    expect(z.decode(params, { flagId: 'f', envId: 'e' })).toEqual({
      flagId: 'f',
      environmentId: 'e',
    })
    expect(z.safeDecode(params, { flag_id: 'f', envId: 'e' }).success).toBe(false)
  })

  it('An issue of a record contains the path of wire names at any depth', () => {
    const wire = { flag_id: 5, targets: [{ variation_id: null, keys: [] }], metadata: null }
    const paths = z.safeDecode(codec, wire as never).error?.issues.map(({ path }) => path)
    expect(paths).toEqual([['flag_id'], ['targets', 0, 'variation_id']])
  })

  it.each(['flagId', 'extra', 'constructor', 'toString'])(
    'A record refuses the unknown field %s',
    (name) => {
      const wire = { flag_id: 'f', targets: [], metadata: null, [name]: 'f' }
      const issues = z.safeDecode(codec, wire).error?.issues
      expect(issues).toMatchObject([{ code: 'unrecognized_keys', keys: [name] }])
    },
  )

  it('A record refuses an own property named __proto__', () => {
    const wire = JSON.parse('{"flag_id":"f","targets":[],"metadata":null,"__proto__":{"name":"x"}}')
    expect(z.safeDecode(codec, wire).success).toBe(false)
  })

  it('A record omits unknown fields when it encodes', () => {
    const value = { flagId: 'f', targets: [], metadata: null, hash: 'secret' }
    expect(z.encode(codec, value)).toEqual({ flag_id: 'f', targets: [], metadata: null })
  })
})
