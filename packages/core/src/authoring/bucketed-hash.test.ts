import { describe, expect, it } from 'vitest'
import { runToEnd } from '../model/incremental.ts'
import { BucketedHash, type ItemChanges } from './bucketed-hash.ts'

interface Item {
  readonly name: string
  readonly line: string
}

const EMPTY = BucketedHash.empty<Item>({ nameOf: ({ name }) => name, lineOf: ({ line }) => line })
const [a1, a2, b1] = [
  { name: 'a', line: 'a 1' },
  { name: 'a', line: 'a 2' },
  { name: 'b', line: 'b 1' },
] as const

function after(collection: BucketedHash<Item>, changes: ItemChanges<Item>): BucketedHash<Item> {
  return runToEnd(collection.after(changes))
}

function of(...added: readonly Item[]): BucketedHash<Item> {
  return after(EMPTY, { added, removed: [] })
}

describe('BucketedHash', () => {
  it('An item replaces the item with the same name', () => {
    expect(of(a1, a2).find('a')).toBe(a2)
    expect(after(of(a1, b1), { added: [a2], removed: [] }).hash).toBe(of(b1, a2).hash)
    expect(of(a1).hash).not.toBe(of(a2).hash)
  })

  it('Items are removed before others are added', () => {
    const changed = after(of(a1, b1), { added: [a2], removed: ['a', 'b', 'missing'] })
    expect(changed.hash).toBe(of(a2).hash)
    expect(changed.find('b')).toBeUndefined()
  })

  it('All items are replaced if `removed` is `all`', () => {
    const changed = after(of(a1, b1), { added: [b1], removed: 'all' })
    expect(changed.hash).toBe(of(b1).hash)
    expect(changed.find('a')).toBeUndefined()
    expect(after(changed, { added: [], removed: 'all' }).hash).toBe(EMPTY.hash)
  })

  it('A collection is the same object after changes that are empty or repeat its source', () => {
    const added = [a1, b1]
    const changed = after(EMPTY, { added, removed: 'all' })
    expect(after(changed, { added, removed: 'all' })).toBe(changed)
    expect(after(changed, { added: [], removed: [] })).toBe(changed)
    const other = after(changed, { added: [], removed: ['b'] })
    expect(after(other, { added, removed: 'all' }).hash).toBe(changed.hash)
  })

  it('find returns the item with the name, also among other items of the same bucket', () => {
    const items = Array.from({ length: 600 }, (_, at) => ({ name: `${at}`, line: `${at}` }))
    const collection = of(...items)
    expect(items.map(({ name }) => collection.find(name))).toEqual(items)
    expect(items.map(({ name }) => collection.find(`-${name}`)).filter(Boolean)).toEqual([])
  })

  it('A collection contains the new item if an item is replaced by one with the same line', () => {
    const copy = { ...a1 }
    expect(after(of(a1), { added: [copy], removed: 'all' }).find('a')).toBe(copy)
  })

  it('The work yields after each thousand items and after each bucket', () => {
    const added = Array.from({ length: 4000 }, (_, at) => ({ name: `${at}`, line: `${at}` }))
    expect([...EMPTY.after({ added, removed: 'all' })].length).toBeGreaterThan(256)
    expect([...EMPTY.after({ added: [a1], removed: [] })]).toHaveLength(1)
  })
})
