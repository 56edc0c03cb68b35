import type { Segment } from '@ff/protocol/management'
import { describe, expect, it } from 'vitest'
import {
  reduceSegmentDraft,
  type SegmentDraftAction,
  segmentRequests,
  startSegmentDraft,
} from './segment-draft.ts'

const fields = { name: 'Partners', description: '', rules: [], logicalOp: 'AND', force: false }
const segment = { ...fields, keyAttribute: 'user.key', revision: 3 } as unknown as Segment
const start = startSegmentDraft(segment)
const condition = { attribute: 'plan', operator: 'eq', value: 'pro' }

const after = (...actions: readonly SegmentDraftAction[]) =>
  actions.reduce(reduceSegmentDraft, start)
const keys = (type: 'addKeys' | 'removeKeys', ...all: readonly string[]) =>
  ({ type, list: 'included', keys: all }) as const

describe('reduceSegmentDraft', () => {
  it('The last change of a key wins, and each key is listed once.', () => {
    const draft = after(keys('addKeys', 'a', 'b', 'a'), keys('removeKeys', 'a'))
    expect(draft.current.included).toEqual({ add: ['b'], remove: ['a'] })
    expect(reduceSegmentDraft(draft, keys('addKeys', 'a')).current.included).toEqual({
      add: ['b', 'a'],
      remove: [],
    })
    expect(draft.current.excluded).toEqual({ add: [], remove: [] })
  })

  it('Typing in a condition is one step, and undo and redo restore it.', () => {
    const type = (value: string) =>
      ({ type: 'setCondition', index: 0, changes: { value } }) as const
    const draft = after({ type: 'addCondition', condition }, type('p'), type('pr'))
    expect(draft.past).toHaveLength(2)
    const undone = reduceSegmentDraft(draft, { type: 'undo' })
    expect(undone.current.rules).toEqual([condition])
    expect(reduceSegmentDraft(undone, { type: 'redo' }).current).toEqual(draft.current)
  })

  it('A reset of a field leaves the other fields changed.', () => {
    const name = { type: 'setSegment', changes: { name: 'Other' } } as const
    const draft = after(name, keys('addKeys', 'a'), { type: 'resetField', field: 'included' })
    expect(draft.current).toEqual({ ...start.base, name: 'Other' })
    expect(draft.revision).toBe(3)
  })
})

describe('segmentRequests', () => {
  it('Only changed fields are sent, and keys that are removed are sent first.', () => {
    expect(segmentRequests(start)).toEqual({ update: null, keys: [] })
    const draft = after(
      { type: 'setSegment', changes: { name: 'Other', force: false } },
      { type: 'addCondition', condition },
      keys('addKeys', 'a'),
      keys('removeKeys', 'b'),
    )
    expect(segmentRequests(draft)).toEqual({
      update: { name: 'Other', rules: [condition] },
      keys: [
        { list: 'included', remove: ['b'] },
        { list: 'included', add: ['a'] },
      ],
    })
  })

  it('No request has more than 10,000 keys or 1 MiB, and no key is lost.', () => {
    const many = Array.from({ length: 20_001 }, (_, index) => `key-${index}`)
    const long = Array.from({ length: 2000 }, (_, index) => `${index}-${'"é'.repeat(400)}`)
    for (const all of [many, long]) {
      const bodies = segmentRequests(after(keys('addKeys', ...all))).keys
      expect(bodies.length).toBeGreaterThan(1)
      expect(bodies.flatMap(({ add }) => add)).toEqual(all)
      for (const body of bodies) {
        expect(body.add?.length).toBeLessThanOrEqual(10_000)
        expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(1024 * 1024)
      }
    }
  })
})
