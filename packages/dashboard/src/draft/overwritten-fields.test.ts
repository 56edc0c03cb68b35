import type { FlagView, Variation } from '@ff/protocol/management'
import { describe, expect, it } from 'vitest'
import { reduceFlagFields, startFlagFieldsDraft } from './flag-edits.ts'
import { overwrittenFields } from './overwritten-fields.ts'

const variation = (key: string, value = key) =>
  ({ id: `id-${key}`, key, name: key, description: '', value, isDefault: key === 'a' }) as Variation
const flag = {
  ...{ id: 'flag', name: 'Flag', description: '', tags: [], clientVisible: true },
  variations: [variation('a'), variation('b')],
} as unknown as FlagView
const renamed = reduceFlagFields(startFlagFieldsDraft(flag), {
  ...{ type: 'setFlag', changes: { name: 'Mine' } },
})

describe('overwrittenFields', () => {
  it('A field that only one side has changed is not overwritten.', () => {
    const theirs = { ...flag, tags: ['theirs'], variations: [variation('a', 'x'), variation('b')] }
    expect(overwrittenFields(renamed, theirs)).toEqual({ settings: [], variations: [] })
  })

  it('A field with another value on both sides is named, and one with the same value is not.', () => {
    expect(overwrittenFields(renamed, { ...flag, name: 'Theirs' }).settings).toEqual(['name'])
    expect(overwrittenFields(renamed, { ...flag, name: 'Mine' }).settings).toEqual([])
  })

  it('A variation that is changed or removed here and changed elsewhere is named.', () => {
    const theirs = { ...flag, variations: [variation('a', 'x'), variation('b', 'x')] }
    const changes = { value: 'mine' }
    const changed = reduceFlagFields(renamed, { type: 'setVariation', id: 'id-a', changes })
    const both = reduceFlagFields(changed, { type: 'removeVariation', id: 'id-b' })
    expect(overwrittenFields(both, theirs).variations).toEqual(['a', 'b'])
    expect(overwrittenFields(both, { ...flag, variations: [] }).variations).toEqual([])
  })
})
