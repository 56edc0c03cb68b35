import { describe, expect, it } from 'vitest'
import { keysFromLines } from './keys-from-lines.ts'
import { dropIndex, shiftedIndex } from './rule-order.ts'

const ids = ['a', 'b', 'c', 'd']

describe('dropIndex', () => {
  it('A rule is dropped before or after another rule, from above and from below', () => {
    expect(dropIndex(ids, 'a', { key: 'c', position: 'before' })).toBe(1)
    expect(dropIndex(ids, 'a', { key: 'c', position: 'after' })).toBe(2)
    expect(dropIndex(ids, 'd', { key: 'b', position: 'before' })).toBe(1)
    expect(dropIndex(ids, 'd', { key: 'a', position: 'after' })).toBe(1)
  })

  it('A rule that is dropped on itself stays', () => {
    expect(dropIndex(ids, 'b', { key: 'b', position: 'before' })).toBe(1)
  })
})

describe('shiftedIndex', () => {
  it('The first rule does not move up and the last rule does not move down', () => {
    expect(shiftedIndex(ids, 'a', -1)).toBeUndefined()
    expect(shiftedIndex(ids, 'd', 1)).toBeUndefined()
    expect(shiftedIndex(ids, 'b', 1)).toBe(2)
  })
})

describe('keysFromLines', () => {
  it('Pasted lines become keys, each once, without white space around them', () => {
    expect(keysFromLines(' user-1\r\nuser 2\t\n\n__proto__\nuser-1')).toEqual([
      'user-1',
      'user 2',
      '__proto__',
    ])
  })
})
