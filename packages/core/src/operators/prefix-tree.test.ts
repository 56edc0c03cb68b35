import { describe, expect, it } from 'vitest'
import { PrefixTree } from './prefix-tree.ts'

const unitOf = (text: string) => text.charCodeAt(0)

describe('PrefixTree', () => {
  // The nodes are numbered breadth first: the root, a, b, ab, ac, bd, abx, aby.
  const tree = new PrefixTree(['bd', 'aby', 'ac', 'abx', 'acc', 'bd'])
  const [a, b, ab, ac, bd, abx, aby] = [1, 2, 3, 4, 5, 6, 7]

  it('The children of a node have consecutive numbers, in the order of their units', () => {
    expect([...tree.units.subarray(1)]).toEqual([...'abbcdxy'].map(unitOf))
    expect([...tree.children]).toEqual([1, 3, 5, 6, 8, 8, 8, 8, 8])
  })

  it('A node is a leaf if and only if a text of the list ends there', () => {
    const leaves = [0, a, b, ab, ac, bd, abx, aby].filter((node) => tree.isLeaf(node))
    expect(leaves).toEqual([ac, bd, abx, aby])
  })

  it('childOf returns the child with a unit, and 0 for any other unit', () => {
    const childrenOf = (node: number) => {
      return [...'`abcdefwxyz'].map((unit) => tree.childOf(node, unitOf(unit))).filter(Boolean)
    }
    expect([0, a, b, ab, ac, aby].map(childrenOf)).toEqual([
      ...[[a, b], [ab, ac], [bd], [abx, aby], [], []],
    ])
    expect(tree.childOf(a, unitOf('c'))).toBe(ac)
  })

  it('childOf finds each of many children', () => {
    const units = Array.from({ length: 33 }, (_, at) => 2 * at + 100)
    const wide = new PrefixTree(units.map((unit) => String.fromCharCode(unit)))
    for (const [at, unit] of units.entries()) {
      expect(wide.childOf(0, unit)).toBe(at + 1)
      expect(wide.childOf(0, unit - 1)).toBe(0)
      expect(wide.childOf(0, unit + 1)).toBe(0)
    }
  })

  it('isIn returns true if the text starts with a text of the list, in either direction', () => {
    const isIn = (text: string) => [tree.isIn(text, 'start'), tree.isIn(text, 'end')]
    expect(isIn('abx')).toEqual([true, false])
    expect(isIn('xba')).toEqual([false, true])
    expect(isIn('aca')).toEqual([true, true])
    expect(isIn('ab')).toEqual([false, false])
    expect(isIn('')).toEqual([false, false])
    expect(isIn('xbd')).toEqual([false, false])
  })

  it('The empty text is in every text, and no text is in a tree without texts', () => {
    const empty = new PrefixTree(['', 'a'])
    expect([...empty.children]).toEqual([1, 1])
    expect(empty.isIn('', 'start')).toBe(true)
    expect(empty.isIn('b', 'end')).toBe(true)
  })
})
