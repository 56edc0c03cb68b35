import { type FlagView, reorderCodec } from '@ff/protocol/management'
import { describe, expect, it } from 'vitest'
import {
  type FlagFieldsAction,
  flagRequests,
  reduceFlagFields,
  reorderBody,
  startFlagFieldsDraft,
  type VariationFields,
} from './flag-edits.ts'

const id = (index: number) => `00000001-0000-4000-8000-00000000000${index}`
const variation = (index: number, isDefault = false): VariationFields => {
  const key = `v${index}`
  return { id: id(index), key, name: key, description: '', value: key, isDefault }
}
const flag = { name: 'Flag', description: '', tags: ['a'], clientVisible: true }
const variations = [variation(0, true), variation(1), variation(2)]
const start = startFlagFieldsDraft({ ...flag, variations } as unknown as FlagView)

const after = (...actions: readonly FlagFieldsAction[]) => actions.reduce(reduceFlagFields, start)
const requests = (...actions: readonly FlagFieldsAction[]) => flagRequests(after(...actions))
const NONE = { update: null, created: [], changed: [], deleted: [], order: null }

describe('flagRequests', () => {
  it('A draft without changes has no requests.', () => {
    expect(requests()).toEqual(NONE)
    expect(after({ type: 'setFlag', changes: { name: 'Flag' } })).toBe(start)
  })

  it('Only changed fields are sent.', () => {
    const name: FlagFieldsAction = { type: 'setFlag', changes: { name: 'Other', tags: ['a'] } }
    const value = { type: 'setVariation', id: id(1), changes: { value: 'x' } } as const
    expect(requests(name, value)).toEqual({
      ...NONE,
      update: { name: 'Other' },
      changed: [{ id: id(1), changes: { value: 'x' } }],
    })
  })

  it('Another default is one change: the previous default is not sent.', () => {
    const change = { type: 'setVariation', id: id(2), changes: { isDefault: true } } as const
    expect(requests(change).changed).toEqual([{ id: id(2), changes: { isDefault: true } }])
    expect(after(change).current.variations.filter(({ isDefault }) => isDefault)).toHaveLength(1)
  })

  it('A new default variation replaces the previous one.', () => {
    const add = { type: 'addVariation', variation: variation(3, true) } as const
    expect(after(add).current.variations.map(({ isDefault }) => isDefault)).toEqual([
      false,
      false,
      false,
      true,
    ])
    const { created, changed } = requests(add)
    expect(created).toMatchObject([{ key: 'v3', isDefault: true }])
    expect(created[0]).not.toHaveProperty('id')
    expect(changed).toEqual([])
  })

  it('A new variation with the key of a removed one changes the removed one.', () => {
    const added = { ...variation(1), id: id(9), value: 'new' }
    const found = requests(
      { type: 'removeVariation', id: id(1) },
      { type: 'addVariation', variation: added },
    )
    expect(found).toEqual({
      ...NONE,
      changed: [{ id: id(1), changes: { value: 'new' } }],
      order: ['v0', 'v2', 'v1'],
    })
  })

  it('The order is sent if a variation moves, and not if one is removed or added at the end.', () => {
    expect(requests({ type: 'removeVariation', id: id(1) })).toEqual({ ...NONE, deleted: [id(1)] })
    expect(requests({ type: 'addVariation', variation: variation(3) }).order).toBeNull()
    const move = { type: 'moveVariation', id: id(2), index: -1 } as const
    expect(requests(move).order).toEqual(['v2', 'v0', 'v1'])
  })
})

describe('reorderBody', () => {
  it('The body names variations by their ids, new ones too, as the API requires.', () => {
    const saved = [...variations, { id: id(7), key: 'new' }]
    const body = reorderBody(['new', 'v2', 'v0', 'v1'], saved)
    expect(body.orders.map((each) => each.id)).toEqual([id(7), id(2), id(0), id(1)])
    expect(body.orders.map(({ orderIndex }) => orderIndex)).toEqual([0, 1, 2, 3])
    const wire = { orders: body.orders.map((each) => ({ id: each.id, order_index: 0 })) }
    expect(reorderCodec.safeParse(wire).success).toBe(true)
  })
})
