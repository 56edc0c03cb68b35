import { describe, expect, it } from 'vitest'
import { dependentsOf, MAX_DEPENDENCY_DEPTH, unresolvable } from './dependency.ts'

const node = (name: string, ...needs: string[]) => ({ name, needs })
/** `n1` needs nothing, `n2` needs `n1`, and so on. */
const chain = (length: number) =>
  Array.from({ length }, (_, index) =>
    index === 0 ? node('n1') : node(`n${index + 1}`, `n${index}`),
  )

describe('unresolvable', () => {
  it('is nothing where everything leads to an end', () => {
    const diamond = [node('a', 'b', 'c', 'b'), node('b', 'd'), node('c', 'd'), node('d')]
    expect(unresolvable(diamond)).toEqual(new Set())
  })

  it('is a cycle and everything that leads into it, but not what leads out of it', () => {
    const nodes = [
      node('a', 'b'),
      node('b', 'a', 'end'),
      node('in', 'a'),
      node('end'),
      node('self', 'self'),
    ]
    expect(unresolvable(nodes)).toEqual(new Set(['a', 'b', 'in', 'self']))
  })

  it('is everything that needs what does not exist', () => {
    expect(unresolvable([node('a', 'b'), node('b', 'ghost'), node('c')])).toEqual(
      new Set(['a', 'b']),
    )
  })

  it('is what lies too deep', () => {
    expect(unresolvable(chain(MAX_DEPENDENCY_DEPTH))).toEqual(new Set())
    expect(unresolvable(chain(MAX_DEPENDENCY_DEPTH + 2))).toEqual(new Set(['n65', 'n66']))
    expect(unresolvable(chain(100_000)).size).toBe(100_000 - MAX_DEPENDENCY_DEPTH)
  })
})

describe('dependentsOf', () => {
  it('finds what depends on a name, however indirectly, and ends in cycles', () => {
    const nodes = [node('a', 'b'), node('b', 'c', 'a'), node('c'), node('d', 'e'), node('e')]
    expect(dependentsOf(nodes, ['c'])).toEqual(new Set(['c', 'b', 'a']))
    expect(dependentsOf(nodes, ['d', 'ghost'])).toEqual(new Set(['d', 'ghost']))
    expect(dependentsOf(nodes, [])).toEqual(new Set())
  })
})
