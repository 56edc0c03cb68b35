import { describe, expect, it } from 'vitest'
import { changedValues } from './changed-values.ts'

describe('changedValues', () => {
  it('changedValues returns new, changed and removed values, and compares deeply', () => {
    const before = { same: { a: [1, { b: null }] }, changed: { a: 1 }, gone: false, null: null }
    const after = { same: { a: [1, { b: null }] }, changed: { a: '1' }, added: null, null: null }
    expect(changedValues(before, after)).toEqual({
      flags: { changed: { a: '1' }, added: null },
      removed: ['gone'],
    })
  })

  it('changedValues treats __proto__ and constructor like any other key', () => {
    const odd = JSON.parse('{"__proto__": true, "constructor": 1}')
    const { flags: added, removed } = changedValues({}, odd)
    expect(Object.entries(added)).toEqual([
      ['__proto__', true],
      ['constructor', 1],
    ])
    expect(removed).toEqual([])
    expect(changedValues(odd, {}).removed).toEqual(['__proto__', 'constructor'])
    expect(changedValues(odd, odd)).toEqual({ flags: {}, removed: [] })
  })
})
