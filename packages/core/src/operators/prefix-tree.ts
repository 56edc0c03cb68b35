/**
 * A prefix tree (trie) of the UTF-16 units of texts. Nodes are numbered breadth first, the root has
 * number 0. The children of a node have consecutive numbers, in the order of their units. A text
 * that starts with another text of the list is omitted. Each leaf is the end of a text.
 */
export class PrefixTree {
  /** The unit of each node. The root has none. */
  readonly units: Uint16Array
  /**
   * The first child of each node. The last child of a node precedes the first child of the next
   * node.
   */
  readonly children: Uint32Array

  constructor(texts: readonly string[]) {
    const sorted = prefixFree(texts)
    const most = 1 + sorted.reduce((sum, { length }) => sum + length, 0)
    const units = new Uint16Array(most)
    const children = new Uint32Array(most + 1)
    // For each node, its depth and the range of the sorted texts with a path through it.
    const depths = new Uint32Array(most)
    const starts = new Uint32Array(most)
    const ends = new Uint32Array(most)
    ends[0] = sorted.length
    let count = 1
    for (let node = 0; node < count; node += 1) {
      children[node] = count
      const depth = depths[node] ?? 0
      const end = ends[node] ?? 0
      for (let at = starts[node] ?? 0; at < end; count += 1) {
        const unit = sorted[at]?.charCodeAt(depth) ?? Number.NaN
        // A text that ends here makes the node a leaf.
        if (Number.isNaN(unit)) break
        starts[count] = at
        while (at < end && sorted[at]?.charCodeAt(depth) === unit) at += 1
        ends[count] = at
        depths[count] = depth + 1
        units[count] = unit
      }
    }
    children[count] = count
    this.units = units.slice(0, count)
    this.children = children.slice(0, count + 1)
  }

  /** Returns `true` if a text of the list ends at the node. */
  isLeaf(node: number): boolean {
    return this.children[node] === this.children[node + 1]
  }

  /** Returns the child of a node with a unit, or 0 if there is none. */
  childOf(node: number, unit: number): number {
    const { units, children } = this
    let low = children[node] ?? 0
    let high = (children[node + 1] ?? 0) - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((units[middle] ?? 0) < unit) low = middle + 1
      else high = middle
    }
    return low === high && units[low] === unit ? low : 0
  }

  /**
   * Returns `true` if the text starts with a text of the list. If `from` is `end`, the units of the
   * text are read in reverse order.
   */
  isIn(text: string, from: 'start' | 'end'): boolean {
    const { length } = text
    let node = 0
    for (let at = 0; at < length && !this.isLeaf(node); at += 1) {
      node = this.childOf(node, text.charCodeAt(from === 'start' ? at : length - 1 - at))
      if (node === 0) return false
    }
    return this.isLeaf(node)
  }
}

/**
 * Returns the texts sorted by UTF-16 units, without texts that start with another text of the list.
 */
function prefixFree(texts: readonly string[]): readonly string[] {
  const kept: string[] = []
  for (const text of [...texts].sort()) {
    const last = kept.at(-1)
    if (last === undefined || !text.startsWith(last)) kept.push(text)
  }
  return kept
}
