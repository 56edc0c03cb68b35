import { describe, expect, it } from 'vitest'
import { utf8, utf8Length } from './utf8.ts'

describe('utf8', () => {
  it.each([
    '\u0000\u007f',
    '\u0080\u07ff',
    '\u0800\ud7ff\ue000\uffff',
    '\u{10000}\u{10ffff}',
    'naïve.ключ 😀',
    '\ud800',
    '\udfff',
    'a\udc00b',
    '\uffffa\uffff',
    '\ud800\ue000\udbff\ue000',
    '\ud83d\ud83d\ude00',
  ])('utf8 encodes %j like TextEncoder, with U+FFFD for a lone surrogate', (text) => {
    expect([...utf8(text)]).toEqual([...new TextEncoder().encode(text)])
    expect(utf8Length(text)).toBe(new TextEncoder().encode(text).byteLength)
  })
})
