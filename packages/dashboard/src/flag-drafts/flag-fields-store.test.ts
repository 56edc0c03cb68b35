import type { FlagView, Variation } from '@ff/protocol/management'
import { expect, it } from 'vitest'
import { flagRequests } from '../draft/flag-edits.ts'
import { FlagFieldsStore } from './flag-fields-store.ts'

const variation = (key: string, value = key) =>
  ({ id: `id-${key}`, key, name: key, description: '', value, isDefault: key === 'a' }) as Variation
const flagWith = (changes: Partial<FlagView>) =>
  ({
    ...{ id: 'flag', name: 'Flag', description: '', tags: [], clientVisible: true },
    variations: [variation('a'), variation('b')],
    ...changes,
  }) as unknown as FlagView

function storeWith(flag: FlagView) {
  const store = new FlagFieldsStore()
  store.receive(flag)
  return store
}

function requestsOf(store: FlagFieldsStore) {
  const draft = store.draftOf('flag')
  return draft === undefined ? undefined : flagRequests(draft)
}

it('After a failure, the saved variation is not created again and the rest is kept', () => {
  const store = storeWith(flagWith({}))
  const added = { ...variation('c'), id: 'local' }
  store.dispatch('flag', { type: 'addVariation', variation: added })
  store.dispatch('flag', { type: 'setVariation', id: 'id-b', changes: { value: 'x' } })
  expect(requestsOf(store)?.created).toHaveLength(1)
  store.continueFrom(flagWith({ variations: ['a', 'b', 'c'].map((key) => variation(key)) }), false)
  expect(requestsOf(store)).toMatchObject({
    created: [],
    changed: [{ id: 'id-b', changes: { value: 'x' } }],
    deleted: [],
  })
})

it('A field that only another user changed is not reverted', () => {
  const store = storeWith(flagWith({}))
  store.dispatch('flag', { type: 'setFlag', changes: { name: 'Mine' } })
  const theirs = { tags: ['theirs'], variations: [variation('a', 'new'), variation('d')] }
  store.continueFrom(flagWith(theirs), false)
  expect(requestsOf(store)).toEqual({
    update: { name: 'Mine' },
    created: [],
    changed: [],
    deleted: [],
    order: null,
  })
})

it('A loaded flag replaces a draft without changes only', () => {
  const store = storeWith(flagWith({}))
  store.receive(flagWith({ name: 'Newer' }))
  expect(store.draftOf('flag')?.current.name).toBe('Newer')
  store.dispatch('flag', { type: 'setFlag', changes: { name: 'Mine' } })
  store.receive(flagWith({ name: 'Newest' }))
  expect(store.draftOf('flag')?.current.name).toBe('Mine')
  expect(store.hasChanges()).toBe(true)
})
