import { describe, expect, it } from 'vitest'
import { elementsOf, isJsonObject, type JsonValue, jsonEquals } from './json.ts'

describe('isJsonObject', () => {
  it('isJsonObject accepts plain objects, with or without a prototype', () => {
    expect(isJsonObject({})).toBe(true)
    expect(isJsonObject(Object.create(null))).toBe(true)
    expect(isJsonObject(JSON.parse('{"__proto__": 1, "constructor": 2}'))).toBe(true)
  })

  it('isJsonObject refuses all other values', () => {
    const others = [null, undefined, true, 1, 'text', [], new Date(0), new Map(), () => ({})]
    expect(others.filter(isJsonObject)).toEqual([])
    expect(isJsonObject(Object.create({ inherited: 1 }))).toBe(false)
  })
})

describe('jsonEquals', () => {
  it.each<[JsonValue, JsonValue]>([
    [1, '1'],
    [1, true],
    [0, false],
    ['', null],
    [null, {}],
    [[], {}],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], [1, 1]],
    [[[]], [[[]]]],
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, { a: 1, b: null }],
    [['0'], { 0: '0', length: 1 }],
  ])('jsonEquals distinguishes %j from %j', (a, b) => {
    expect(jsonEquals(a, b)).toBe(false)
    expect(jsonEquals(b, a)).toBe(false)
  })

  it('jsonEquals distinguishes an undefined property from an absent one', () => {
    const undefinedA = { a: undefined } as unknown as JsonValue
    expect(jsonEquals(undefinedA, { b: 1 })).toBe(false)
    expect(jsonEquals({ b: 1 }, undefinedA)).toBe(false)
    expect(jsonEquals(undefinedA, { a: null })).toBe(false)
  })

  it('jsonEquals ignores the order of properties at any depth', () => {
    expect(jsonEquals({ a: [{ b: 1, c: 2 }], d: null }, { d: null, a: [{ c: 2, b: 1 }] })).toBe(
      true,
    )
  })

  it('jsonEquals treats the names of members of Object.prototype like any other name', () => {
    const proto = JSON.parse('{"__proto__": {"a": 1}}')
    expect(jsonEquals(proto, {})).toBe(false)
    expect(jsonEquals(proto, { a: 1 })).toBe(false)
    expect(jsonEquals(proto, JSON.parse('{"__proto__": {"a": 1}}'))).toBe(true)
    expect(jsonEquals(JSON.parse('{"toString": 1}'), { valueOf: 1 })).toBe(false)
    expect(jsonEquals(JSON.parse('{"__proto__": null}'), { a: null })).toBe(false)
  })

  it('jsonEquals compares values that are nested a hundred thousand levels deep', () => {
    const deep = (last: string) => JSON.parse(`${'['.repeat(1e5)}${last}${']'.repeat(1e5)}`)
    expect(jsonEquals(deep('1'), deep('1'))).toBe(true)
    expect(jsonEquals(deep('1'), deep('2'))).toBe(false)
  })
})

describe('elementsOf', () => {
  it('elementsOf returns an array, and throws for other values and for undefined elements', () => {
    const list = [1, null]
    expect(elementsOf(list)).toBe(list)
    for (const odd of [undefined, null, 'text', { length: 1 }, [1, undefined]]) {
      expect(() => elementsOf(odd as unknown[])).toThrow('An array is missing or contains')
    }
  })
})
