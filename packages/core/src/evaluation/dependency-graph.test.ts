import { describe, expect, it } from 'vitest'
import { dependenciesOf, dependentsOf, findUnresolvable } from './dependency-graph.ts'

const node = (name: string, ...dependsOn: string[]) => ({ name, dependsOn })
const always = () => true
/** Returns a chain: `n1` has no dependency, `n2` depends on `n1`, and so on. */
const chain = (length: number) =>
  Array.from({ length }, (_, index) =>
    index === 0 ? node('n1') : node(`n${index + 1}`, `n${index}`),
  )

describe('findUnresolvable', () => {
  it('findUnresolvable returns no names if every dependency exists and there is no cycle', () => {
    const diamond = [node('a', 'b', 'c', 'b'), node('b', 'd'), node('c', 'd'), node('d')]
    expect(findUnresolvable(diamond, always)).toEqual(new Set())
  })

  it('findUnresolvable returns a cycle and its dependents, but not its dependencies', () => {
    const nodes = [
      node('a', 'b'),
      node('b', 'a', 'end'),
      node('in', 'a'),
      node('end'),
      node('self', 'self'),
    ]
    expect(findUnresolvable(nodes, always)).toEqual(new Set(['a', 'b', 'in', 'self']))
  })

  it('findUnresolvable returns all dependents of a missing node', () => {
    expect(findUnresolvable([node('a', 'b'), node('b', 'ghost'), node('c')], always)).toEqual(
      new Set(['a', 'b']),
    )
  })

  it('findUnresolvable returns the nodes at the end of a chain of more than 64 hops', () => {
    expect(findUnresolvable(chain(65), always)).toEqual(new Set())
    expect(findUnresolvable(chain(67), always)).toEqual(new Set(['n66', 'n67']))
    expect(findUnresolvable(chain(100_000), always).size).toBe(100_000 - 65)
  })

  it('findUnresolvable counts the hops of the longest chain, without dependencies that are not hops', () => {
    const shortcut = [...chain(66), node('both', 'n1', 'n65')]
    expect(findUnresolvable(shortcut, always)).toEqual(new Set(['n66', 'both']))
    const isHop = (name: string) => name !== 'n66' && name !== 'both'
    expect(findUnresolvable(shortcut, isHop)).toEqual(new Set())
    expect(findUnresolvable([...shortcut, node('end', 'both')], isHop)).toEqual(new Set(['end']))
  })
})

describe('dependenciesOf', () => {
  it('dependenciesOf returns direct and indirect dependencies, and terminates for cycles', () => {
    const nodes = [node('a', 'b'), node('b', 'c', 'a'), node('c'), node('d', 'e'), node('e')]
    expect(dependenciesOf(nodes, ['a'])).toEqual(new Set(['a', 'b', 'c']))
    expect(dependenciesOf(nodes, ['d', 'ghost'])).toEqual(new Set(['d', 'ghost', 'e']))
    expect(dependenciesOf(nodes, [])).toEqual(new Set())
  })
})

describe('dependentsOf', () => {
  it('dependentsOf returns direct and indirect dependents, and terminates for cycles', () => {
    const nodes = [node('a', 'b'), node('b', 'c', 'a'), node('c'), node('d', 'e'), node('e')]
    expect(dependentsOf(nodes, ['c'])).toEqual(new Set(['c', 'b', 'a']))
    expect(dependentsOf(nodes, ['d', 'ghost'])).toEqual(new Set(['d', 'ghost']))
    expect(dependentsOf(nodes, [])).toEqual(new Set())
  })
})
