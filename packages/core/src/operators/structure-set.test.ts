import { describe, expect, it } from 'vitest'
import type { JsonArray, JsonObject, JsonValue } from '../model/json.ts'
import { StructureSet } from './structure-set.ts'

function setOf(...structures: readonly (JsonArray | JsonObject)[]): StructureSet {
  const set = new StructureSet()
  for (const structure of structures) set.add(structure)
  return set
}

function nested(depth: number): JsonArray {
  let value: JsonArray = []
  for (let level = 0; level < depth; level += 1) value = [value]
  return value
}

/** Objects and arrays of one or two elements. There are more than four of each size. */
const many = [
  ...[[1], ['1'], [null], [[1]], [{}], [{ a: 1 }]],
  ...[{ a: 1 }, { a: '1' }, { b: 1 }, { a: null }, { a: [1] }, { a: {} }],
  ...[
    { a: 1, b: 2 },
    { a: { c: 1, d: 2 }, b: 3 },
    { x: 1, a: 1 },
    { x: 2, y: 1 },
    { z: 1, a: 2 },
  ],
] as readonly (JsonArray | JsonObject)[]

describe('StructureSet', () => {
  it('has returns true exactly for the structures of a set', () => {
    const all = setOf(...many)
    for (const structure of many) {
      expect(all.has(structuredClone(structure))).toBe(true)
      expect(setOf(structure).has(structuredClone(structure))).toBe(true)
      const others = many.filter((each) => each !== structure)
      expect([structure, setOf(...others).has(structure)]).toEqual([structure, false])
    }
  })

  it('has returns false for structures and other values that the set does not contain', () => {
    const others: JsonValue[] = ['a', 1, true, null, [], {}, [2], [1, 1], { a: 2 }, { b: 2, a: 2 }]
    for (const value of others) {
      expect(setOf(...many).has(value)).toBe(false)
      expect(setOf().has(value)).toBe(false)
      expect(setOf([1], { a: 1 }).has(value)).toBe(false)
    }
  })

  it('The order of the properties does not matter, at any depth', () => {
    const all = setOf(...many)
    expect(all.has({ b: 2, a: 1 })).toBe(true)
    expect(all.has({ b: 3, a: { d: 2, c: 1 } })).toBe(true)
    expect(all.has({ b: 3, a: { d: 1, c: 2 } })).toBe(false)
  })

  it('Empty arrays and empty objects are different', () => {
    expect(setOf([]).has([])).toBe(true)
    expect(setOf([]).has({})).toBe(false)
    expect(setOf({}).has([])).toBe(false)
    expect(setOf({}).has({})).toBe(true)
  })

  it('has accepts values that are nested too deeply for JSON.stringify', () => {
    const deep = nested(20_000)
    const all = setOf(...many)
    expect(all.has(deep)).toBe(false)
    expect(setOf(...many, deep).has(nested(20_000))).toBe(true)
    expect(setOf(...many, deep).has(nested(20_001))).toBe(false)
  })
})
