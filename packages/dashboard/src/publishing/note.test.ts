import { describe, expect, it } from 'vitest'
import { noteFault, noteOf } from './note.ts'

describe('noteOf', () => {
  it('Pasted lines become one line, and half of a pair is left out.', () => {
    expect(noteOf('a\r\nb\u0000c\ud800')).toBe('a b c')
    expect(noteOf('🛒 cart')).toBe('🛒 cart')
  })
})

describe('noteFault', () => {
  it('A required note needs a visible character.', () => {
    expect(noteFault('  ', true)).toEqual({ kind: 'missing' })
    expect(noteFault('  ', false)).toBeUndefined()
    expect(noteFault('a', true)).toBeUndefined()
  })

  it('The length counts characters, not their parts.', () => {
    expect(noteFault('🛒'.repeat(1000), true)).toBeUndefined()
    expect(noteFault('🛒'.repeat(1001), false)).toEqual({ kind: 'tooLong', length: 1001 })
  })
})
