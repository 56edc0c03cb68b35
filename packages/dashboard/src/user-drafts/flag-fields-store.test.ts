import type { FlagView, Variation } from '@ff/protocol/management'
import { expect, it } from 'vitest'
import { flagRequests } from '../draft/flag-edits.ts'
import { createFlagFieldsDraftStorage, type DraftStore } from './draft-storage.ts'
import {
  continuedFields,
  createFlagFieldsStore,
  type FlagFieldsStore,
} from './flag-fields-store.ts'

const variation = (key: string, value = key) =>
  ({ id: `id-${key}`, key, name: key, description: '', value, isDefault: key === 'a' }) as Variation
const flagWith = (changes: Partial<FlagView>) =>
  ({
    ...{ id: 'flag', name: 'Flag', description: '', tags: [], clientVisible: true },
    variations: [variation('a'), variation('b')],
    ...changes,
  }) as unknown as FlagView

function memoryStore(): DraftStore {
  const entries = new Map<string, string>()
  return {
    getItem: (key) => entries.get(key) ?? null,
    setItem: (key, value) => void entries.set(key, value),
    removeItem: (key) => void entries.delete(key),
    key: (index) => [...entries.keys()][index] ?? null,
    get length() {
      return entries.size
    },
  }
}

function storeWith(flag: FlagView, session = memoryStore(), userId = 'ada') {
  const store = createFlagFieldsStore(createFlagFieldsDraftStorage(session, userId))
  store.receive(flag)
  return store
}

/** Continues the draft from the flag after a part of it was saved. */
function continueFrom(store: FlagFieldsStore, flag: FlagView) {
  const draft = store.draftOf('flag')
  if (draft !== undefined) store.replace(flag, continuedFields(draft, flag))
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
  continueFrom(store, flagWith({ variations: ['a', 'b', 'c'].map((key) => variation(key)) }))
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
  continueFrom(store, flagWith(theirs))
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
  expect(store.changedIds()).toEqual(['flag'])
})

it('A draft is restored after a reload for its user only, with the flag from which it started', () => {
  const session = memoryStore()
  storeWith(flagWith({}), session).dispatch('flag', { type: 'setFlag', changes: { name: 'Mine' } })
  const after = storeWith(flagWith({ name: 'Newer' }), session)
  expect(after.draftOf('flag')).toMatchObject({
    base: { name: 'Flag' },
    current: { name: 'Mine' },
  })
  expect(after.changedIds()).toEqual(['flag'])
  expect(storeWith(flagWith({}), session, 'grace').changedIds()).toEqual([])
})

it('A discarded draft, and one whose last change is undone, show the newest flag', () => {
  const store = storeWith(flagWith({}))
  const change = (name: string) => store.dispatch('flag', { type: 'setFlag', changes: { name } })
  change('Mine')
  store.receive(flagWith({ name: 'Newer' }))
  change('Flag')
  expect(store.draftOf('flag')?.current.name).toBe('Newer')
  change('Mine')
  store.receive(flagWith({ name: 'Newest' }))
  store.discard('flag')
  expect(store.draftOf('flag')?.current.name).toBe('Newest')
  expect(store.changedIds()).toEqual([])
})

it('A forgotten draft is removed from memory and from the storage, and so are all by clearing', () => {
  const session = memoryStore()
  const store = storeWith(flagWith({}), session)
  store.dispatch('flag', { type: 'setFlag', changes: { name: 'Mine' } })
  store.forget('flag')
  expect([store.draftOf('flag'), session.length]).toEqual([undefined, 0])
  store.receive(flagWith({}))
  store.dispatch('flag', { type: 'setFlag', changes: { name: 'Mine' } })
  expect(session.length).toBe(1)
  store.clear()
  expect([store.draftOf('flag'), session.length]).toEqual([undefined, 0])
})
