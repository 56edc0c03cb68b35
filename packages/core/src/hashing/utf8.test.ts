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

  it('utf8 and utf8Length agree with TextEncoder for every sequence of three units at a limit', () => {
    const limits = [0x80, 0x800, 0xd800, 0xdc00, 0xe000].flatMap((limit) => [limit - 1, limit])
    const units = [...limits, 0xdbff, 0xdfff, 0xffff]
    for (const first of units) {
      for (const second of units) {
        for (const third of units) {
          const text = String.fromCharCode(first, second, third)
          const expected = new TextEncoder().encode(text)
          expect([first, second, third, ...utf8(text)]).toEqual([first, second, third, ...expected])
          expect(utf8Length(text)).toBe(expected.byteLength)
        }
      }
    }
  })
})
