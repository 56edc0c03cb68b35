import { expect, it } from 'vitest'
import { contextTextOf } from './context-text.ts'
import { textHash } from './text-hash.ts'

it('Hashes of similar texts differ, in each half too.', () => {
  const texts = Array.from(
    { length: 20_000 },
    (_, index) => `http://a.test\nff_1\n{"key":"u${index}"}`,
  )
  const hashes = texts.map(textHash)
  expect(new Set(hashes).size).toBe(20_000)
  expect(new Set(hashes.map((hash) => hash.slice(0, 12))).size).toBe(20_000)
  expect(new Set(hashes.map((hash) => hash.slice(-12))).size).toBe(20_000)
})

it('A hash differs after each change of one character.', () => {
  const text = JSON.stringify({ flags: { theme: 'light' }, version: 7 })
  const changed = [...text].map((_, at) => `${text.slice(0, at)}~${text.slice(at + 1)}`)
  const cut = [...text].map((_, at) => text.slice(0, at))
  expect(new Set([text, ...changed, ...cut].map(textHash)).size).toBe(2 * text.length + 1)
})

it('Equal contexts have equal texts, and other values have none.', () => {
  const context = { kind: 'user', key: 'u1', tags: [{ b: 1, a: 2 }], when: new Date(0) }
  const reordered = { when: new Date(0), tags: [{ a: 2, b: 1 }], key: 'u1', kind: 'user' }
  expect(contextTextOf(context)).toBe(contextTextOf(reordered))
  expect(contextTextOf({})).toBe('{}')
  expect(contextTextOf(JSON.parse('{"kind":"user","__proto__":1}'))).toContain('"__proto__":1')
  for (const wrong of [null, 7, 'user', [], { key: 'u1' }, { kind: 7 }, { kind: 1n }]) {
    expect(contextTextOf(wrong)).toBe(undefined)
  }
})
