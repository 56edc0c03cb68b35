import { describe, expect, it } from 'vitest'
import type { Configuration } from '../draft/configuration.ts'
import { startFlagDraft } from '../draft/flag-draft.ts'
import { createDraftStorage, type DraftStore } from './draft-storage.ts'
import { FlagDraftStore } from './flag-draft-store.ts'

const base: Configuration = {
  state: {
    isActive: true,
    defaultVariationId: null,
    offVariationId: null,
    targets: [],
    prerequisites: [],
  },
  targetingRules: [],
  rollouts: [],
  revision: 1,
}
const newer: Configuration = { ...base, revision: 2, state: { ...base.state, isActive: false } }
const place = { environmentId: 'live', flagId: 'checkout' }
const published = { base, etag: '"1"', version: null }
const addRule = { type: 'addRule', rule: { name: 'Beta' } } as const

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

function storeOf(store = memoryStore(), userId = 'ada') {
  let count = 0
  const drafts = new FlagDraftStore(createDraftStorage(store, userId), () => `id-${++count}`)
  return drafts
}

function rulesOf(store: FlagDraftStore) {
  return store.draftOf(place)?.current.targetingRules.map(({ id, name }) => [id, name])
}

describe('FlagDraftStore', () => {
  it('One action adds one rule with one new id', () => {
    const store = storeOf()
    store.receive(place, published)
    store.dispatch(place, addRule)
    expect(rulesOf(store)).toEqual([['id-1', 'Beta']])
    expect(store.changedPlaces()).toEqual([place])
  })

  it('A draft whose changes are published already is not restored, as in a duplicated tab', () => {
    const session = memoryStore()
    const before = storeOf(session)
    before.receive(place, published)
    before.dispatch(place, addRule)
    const current = before.draftOf(place)?.current ?? base
    const duplicate = storeOf(session)
    duplicate.receive(place, { ...published, base: { ...current, revision: 2 }, etag: '"2"' })
    expect(duplicate.changedPlaces()).toEqual([])
    expect(rulesOf(duplicate)).toEqual([['id-1', 'Beta']])
  })

  it('A draft is restored after a reload with the base and the ETag that it started from', () => {
    const session = memoryStore()
    const before = storeOf(session)
    before.receive(place, published)
    before.dispatch(place, addRule)
    const after = storeOf(session)
    expect(after.changedPlaces()).toEqual([place])
    after.receive(place, { base: newer, etag: '"2"', version: null })
    expect(after.draftOf(place)).toMatchObject({ base, etag: '"1"' })
    expect(rulesOf(after)).toEqual([['id-1', 'Beta']])
    expect(storeOf(session, 'grace').changedPlaces()).toEqual([])
  })

  it('A newer configuration replaces a draft without changes only', () => {
    const store = storeOf()
    store.receive(place, published)
    store.receive(place, { base: newer, etag: '"2"', version: null })
    expect(store.draftOf(place)).toMatchObject({ current: newer, etag: '"2"' })
    store.dispatch(place, addRule)
    store.receive(place, { base, etag: '"3"', version: null })
    expect(store.draftOf(place)).toMatchObject({ base: newer, etag: '"2"' })
  })

  it('Undo and redo step through the draft, and undoing everything ends it', () => {
    const store = storeOf()
    store.receive(place, published)
    store.dispatch(place, addRule)
    store.dispatch(place, { type: 'undo' })
    expect(rulesOf(store)).toEqual([])
    expect(store.changedPlaces()).toEqual([])
    store.dispatch(place, { type: 'redo' })
    expect(rulesOf(store)).toEqual([['id-1', 'Beta']])
  })

  it('A draft whose last change is undone shows the newest configuration that was loaded', () => {
    const store = storeOf()
    store.receive(place, published)
    store.dispatch(place, addRule)
    store.receive(place, { base: newer, etag: '"2"', version: null })
    store.dispatch(place, { type: 'undo' })
    expect(store.draftOf(place)).toMatchObject({ base: newer, current: newer, etag: '"2"' })
  })

  it('A discarded draft shows the newest configuration that was loaded', () => {
    const store = storeOf()
    store.receive(place, published)
    store.dispatch(place, addRule)
    store.receive(place, { base: newer, etag: '"2"', version: null })
    store.discard(place)
    expect(store.draftOf(place)).toMatchObject({ base: newer, current: newer, etag: '"2"' })
    expect(store.changedPlaces()).toEqual([])
  })

  it('A published draft is not replaced by the earlier configuration that is still cached', () => {
    const store = storeOf()
    store.receive(place, published)
    store.dispatch(place, addRule)
    store.replace(place, startFlagDraft({ base: newer, etag: '"2"', version: 7 }))
    store.receive(place, published)
    expect(store.draftOf(place)).toMatchObject({ current: newer, etag: '"2"', version: 7 })
  })

  it('Clearing removes the drafts from memory and from the storage', () => {
    const session = memoryStore()
    const store = storeOf(session)
    store.receive(place, published)
    store.dispatch(place, addRule)
    store.clear()
    expect(store.draftOf(place)).toBeUndefined()
    expect(session.length).toBe(0)
  })
})
