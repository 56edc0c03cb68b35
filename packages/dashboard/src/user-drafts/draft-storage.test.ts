import { describe, expect, it } from 'vitest'
import { startFlagDraft } from '../draft/flag-draft.ts'
import { restoredHistory } from '../draft/history.ts'
import {
  createDraftStorage,
  createFlagFieldsDraftStorage,
  createSegmentDraftStorage,
  type DraftStore,
} from './draft-storage.ts'

const state = { isActive: true, defaultVariationId: null, offVariationId: null }
const lists = { targets: [], prerequisites: [] }
const base = { state: { ...state, ...lists }, targetingRules: [], rollouts: [], revision: 1 }
const current = { ...base, state: { ...base.state, isActive: false } }
const draft = { ...startFlagDraft({ base, etag: '"1"', version: 1 }), current }

const NO_KEYS = { add: [], remove: [] }
const segment = {
  name: 'Partners',
  description: '',
  rules: [{ attribute: 'plan', operator: 'eq', value: 'pro', negate: true }],
  logicalOp: 'OR' as const,
  force: false,
  keyAttribute: 'user.key',
  included: NO_KEYS,
  excluded: NO_KEYS,
}
const changedSegment = { ...segment, included: { add: ['__proto__'], remove: [] } }
const segmentDraft = { ...restoredHistory(segment, changedSegment), revision: 3 }

const variation = { id: 'v', key: 'on', name: 'On', description: '', value: 'true' }
const variations = [{ ...variation, isDefault: true }]
const flag = { name: 'Flag', description: '', tags: [], clientVisible: true, variations }
const flagDraft = restoredHistory(flag, { ...flag, tags: ['new'] })

const place = { environmentId: 'e', flagId: 'f' }

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

describe('createDraftStorage', () => {
  it('A stored draft is restored for its user only, without its steps.', () => {
    const store = memoryStore()
    const drafts = createDraftStorage(store, 'ada')
    expect(drafts.save(place, { ...draft, past: [base], field: 'x' })).toBe(true)
    expect(drafts.load(place)).toEqual(draft)
    expect(drafts.list()).toEqual([place])
    expect(createDraftStorage(store, 'bob').list()).toEqual([])
    expect(createDraftStorage(store, 'bob').load(place)).toBeUndefined()
  })

  it('A draft without changes is not stored, and replaces a stored one.', () => {
    const store = memoryStore()
    const drafts = createDraftStorage(store, 'ada')
    drafts.save(place, draft)
    expect(drafts.save(place, { ...draft, current: base })).toBe(true)
    expect(store.length).toBe(0)
  })

  it.each(['{', '{}', 'null', '{"etag":1}', ''])('The damaged entry %s is ignored.', (text) => {
    const store = memoryStore()
    const drafts = createDraftStorage(store, 'ada')
    drafts.save(place, draft)
    store.setItem(store.key(0) ?? '', text)
    expect(drafts.load(place)).toBeUndefined()
    expect(drafts.list()).toEqual([])
  })

  it('A full or forbidden store is reported and does not throw.', () => {
    const refuse = () => {
      throw new DOMException('full', 'QuotaExceededError')
    }
    const store = { getItem: refuse, setItem: refuse, removeItem: refuse, key: refuse, length: 1 }
    const drafts = createDraftStorage(store, 'ada')
    expect(drafts.save(place, draft)).toBe(false)
    expect(drafts.load(place)).toBeUndefined()
    expect(drafts.list()).toEqual([])
    expect(() => drafts.clear()).not.toThrow()
  })
})

describe('a store that becomes full', () => {
  it('It does not keep an older state of a draft.', () => {
    const store = memoryStore()
    const drafts = createDraftStorage(store, 'ada')
    drafts.save(place, draft)
    store.setItem = () => {
      throw new DOMException('full', 'QuotaExceededError')
    }
    const newer = { ...base, state: { ...base.state, defaultVariationId: 'v' } }
    expect(drafts.save(place, { ...draft, current: newer })).toBe(false)
    expect(drafts.load(place)).toBeUndefined()
  })
})

describe('the drafts of segments and of the fields of flags', () => {
  it('They are restored, listed by their kind, and removed with all other drafts.', () => {
    const store = memoryStore()
    const flags = createDraftStorage(store, 'ada')
    const segments = createSegmentDraftStorage(store, 'ada')
    const fields = createFlagFieldsDraftStorage(store, 'ada')
    flags.save(place, draft)
    expect(segments.save({ id: 's' }, segmentDraft)).toBe(true)
    expect(fields.save({ id: 'f' }, flagDraft)).toBe(true)
    expect(segments.load({ id: 's' })).toEqual(segmentDraft)
    expect(fields.load({ id: 'f' })).toEqual(flagDraft)
    expect([flags.list(), segments.list(), fields.list()]).toEqual([
      [place],
      [{ id: 's' }],
      [{ id: 'f' }],
    ])
    store.setItem('other', 'kept')
    fields.remove({ id: 'f' })
    expect(fields.list()).toEqual([])
    segments.clear()
    expect([store.length, store.key(0)]).toEqual([1, 'other'])
  })
})
