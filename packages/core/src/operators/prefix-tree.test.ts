import { describe, expect, it } from 'vitest'
import { PrefixTree, prefixFree } from './prefix-tree.ts'

const unitOf = (text: string) => text.charCodeAt(0)

describe('PrefixTree', () => {
  // The nodes are numbered breadth first: the root, a, b, ab, ac, bd, abx, aby, acc.
  const tree = new PrefixTree(['bd', 'aby', 'ac', 'abx', 'acc', 'bd'])
  const [a, b, ab, ac, bd, abx, aby, acc] = [1, 2, 3, 4, 5, 6, 7, 8]

  it('The children of a node have consecutive numbers, in the order of their units', () => {
    expect([...tree.units.subarray(1)]).toEqual([...'abbcdxyc'].map(unitOf))
    expect([...tree.children]).toEqual([1, 3, 5, 6, 8, 9, 9, 9, 9, 9])
  })

  it('The texts are sorted and distinct, and each ends at one node', () => {
    expect(tree.texts).toEqual(['abx', 'aby', 'ac', 'acc', 'bd'])
    const nodes = [0, a, b, ab, ac, bd, abx, aby, acc]
    expect(nodes.filter((node) => tree.isEnd(node))).toEqual([ac, bd, abx, aby, acc])
    expect([...tree.endings]).toEqual([0, 0, 0, 0, 3, 5, 1, 2, 4])
  })

  it('childOf returns the child with a unit, and 0 for any other unit', () => {
    const childrenOf = (node: number) => {
      return [...'`abcdefwxyz'].map((unit) => tree.childOf(node, unitOf(unit))).filter(Boolean)
    }
    expect([0, a, b, ab, ac, aby].map(childrenOf)).toEqual([
      ...[[a, b], [ab, ac], [bd], [abx, aby], [acc], []],
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
    expect([...empty.endings]).toEqual([1, 2])
    expect(empty.isIn('', 'start')).toBe(true)
    expect(empty.isIn('b', 'end')).toBe(true)
    const none = new PrefixTree([])
    expect([...none.endings]).toEqual([0])
    expect(none.isIn('', 'start')).toBe(false)
    expect(none.isIn('b', 'end')).toBe(false)
  })

  it('childOf finds children of the root inside and outside of ASCII', () => {
    const units = [0, 1, 127, 128, 255, 0xffff]
    const first = new PrefixTree(units.map((unit) => String.fromCharCode(unit)))
    const others = [2, 126, 129, 0xfffe]
    expect(units.map((unit) => first.childOf(0, unit))).toEqual([1, 2, 3, 4, 5, 6])
    expect(others.map((unit) => first.childOf(0, unit))).toEqual([0, 0, 0, 0])
  })

  it('indexOf returns the index of each text, and -1 for any other text', () => {
    expect(tree.texts.map((text) => tree.indexOf(text))).toEqual([0, 1, 2, 3, 4])
    expect(['', 'a', 'ab', 'abxy', 'x', 'cc'].map((text) => tree.indexOf(text))).toEqual([
      ...[-1, -1, -1, -1, -1, -1],
    ])
    expect(new PrefixTree(['', 'a']).indexOf('')).toBe(0)
  })

  it('The suffix link of a node is the node of its longest suffix in the tree', () => {
    const words = new PrefixTree(['abab', 'bab', 'ba'])
    // The root, a, b, ab, ba, aba, bab, abab.
    const [wordA, wordB, wordAb, wordBa, wordAba, wordBab, wordAbab] = [1, 2, 3, 4, 5, 6, 7]
    const links = words.suffixLinks()
    expect([...links]).toEqual([0, 0, 0, wordB, wordA, wordBa, wordAb, wordBab])
    expect(words.nodeAfter(wordAba, unitOf('b'), links)).toBe(wordAbab)
    expect(words.nodeAfter(wordAbab, unitOf('a'), links)).toBe(wordAba)
    expect(words.nodeAfter(wordBa, unitOf('c'), links)).toBe(0)
    expect(words.nodeAfter(0, unitOf('a'), links)).toBe(wordA)
  })

  it('prefixFree sorts texts and omits those that start with another one', () => {
    expect(prefixFree(['b', 'ab', 'a', 'ba', 'c', 'c'])).toEqual(['a', 'b', 'c'])
    expect(prefixFree(['', 'a'])).toEqual([''])
  })
})
