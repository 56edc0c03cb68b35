import { describe, expect, it, vi } from 'vitest'
import { clip, jsonExcerpt, quote, textOf } from './quote.ts'

/** Wraps a value so that each read of a member calls `count`, in any depth. */
function counted(value: unknown, count: () => void): unknown {
  if (typeof value !== 'object' || value === null) return value
  return new Proxy(value, {
    get(target, name) {
      count()
      return counted(Reflect.get(target, name), count)
    },
  })
}

describe('Quoting of values in messages', () => {
  it('A quoted text is cut after 200 characters, which an ellipsis indicates', () => {
    expect(clip('x'.repeat(200))).toBe('x'.repeat(200))
    expect(clip('x'.repeat(201))).toBe(`${'x'.repeat(200)}…`)
    expect(quote('a "b"')).toBe('"a "b""')
    expect(quote('x'.repeat(201))).toBe(`"${'x'.repeat(200)}…"`)
  })

  it('textOf returns JSON for a value that is not text', () => {
    expect(textOf('[1]')).toBe('[1]')
    expect(textOf([1, 'a'])).toBe('[1,"a"]')
    expect(textOf({ toString: 1, valueOf: 1 })).toBe('{"toString":1,"valueOf":1}')
    expect(textOf([true, { no: false }])).toBe('[true,{"no":false}]')
    expect(textOf(null)).toBe('null')
    expect(textOf(undefined)).toBe('')
    expect(quote(Object.create(null))).toBe('"{}"')
  })

  it('jsonExcerpt names the type of a value that is not JSON, and calls none of its methods', () => {
    const fail = () => {
      throw new Error('must not be called')
    }
    const odd = [10n, Symbol('odd'), fail, new Date(0), new Map(), undefined, Number.NaN, -0]
    expect(jsonExcerpt(odd)).toBe(
      '[[object BigInt],[object Symbol],[object Function],[object Date],[object Map],null,NaN,0]',
    )
    expect(jsonExcerpt({ toJSON: fail, at: undefined })).toBe('{"toJSON":[object Function]}')
  })

  it('jsonExcerpt does not read the members after the excerpt', () => {
    const read: string[] = []
    const member = (name: string) => ({ enumerable: true, get: () => read.push(name) })
    const object = Object.defineProperties({ long: 'x'.repeat(201) }, { last: member('last') })
    expect(jsonExcerpt(object)).toBe(`{"long":"${'x'.repeat(191)}…`)
    expect(read).toEqual([])
  })

  it('jsonExcerpt reads only the start of a value that is huge, deep or cyclic', () => {
    const cycle: unknown[] = ['a']
    cycle.push({ cycle })
    let deep: unknown = 1
    for (let level = 0; level < 100_000; level += 1) deep = [deep]
    const huge = new Array(4_000_000_000)
    const large = 2n ** 1_000_000n
    let reads = 0
    const count = () => {
      reads += 1
    }
    for (const value of [cycle, deep, huge, [huge]]) {
      reads = 0
      expect(jsonExcerpt(counted(value, count)).length).toBeLessThan(202)
      expect(reads).toBeLessThan(700)
    }
    expect(jsonExcerpt(large)).toBe('[object BigInt]')
    const encode = vi.spyOn(JSON, 'stringify')
    const excerpt = jsonExcerpt('x'.repeat(10_000_000))
    const encoded = encode.mock.calls.map(([text]) => text.length)
    encode.mockRestore()
    expect(excerpt.length).toBeLessThan(202)
    expect(encoded).toEqual([201])
  })
})
