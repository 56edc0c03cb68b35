const ASCII = 128

/**
 * A prefix tree (trie) of the UTF-16 units of texts. Nodes are numbered breadth first, the root has
 * number 0. The children of a node have consecutive numbers, in the order of their units.
 */
export class PrefixTree {
  /** The distinct texts in ascending order. */
  readonly texts: readonly string[]
  /** The unit of each node. The root has none. */
  readonly units: Uint16Array
  /**
   * The first child of each node. The last child of a node precedes the first child of the next
   * node.
   */
  readonly children: Uint32Array
  /** For each node, the index of the text that ends there plus 1, or 0 if no text ends there. */
  readonly endings: Uint32Array
  /** The children of the root by their units, for units of ASCII. */
  readonly #first = new Uint32Array(ASCII)

  constructor(texts: Iterable<string>) {
    const sorted = [...texts].sort().filter((text, at, all) => text !== all[at - 1])
    const most = 1 + sorted.reduce((sum, { length }) => sum + length, 0)
    const units = new Uint16Array(most)
    const children = new Uint32Array(most + 1)
    // For each node, its depth and the range of the sorted texts with a path through it.
    const depths = new Uint32Array(most)
    const starts = new Uint32Array(most)
    const ends = new Uint32Array(most)
    const endings = new Uint32Array(most)
    ends[0] = sorted.length
    let count = 1
    for (let node = 0; node < count; node += 1) {
      children[node] = count
      const depth = depths[node] ?? 0
      const end = ends[node] ?? 0
      let at = starts[node] ?? 0
      // A text precedes all longer texts that start with it.
      if (at < end && sorted[at]?.length === depth) {
        at += 1
        endings[node] = at
      }
      for (; at < end; count += 1) {
        const unit = sorted[at]?.charCodeAt(depth) ?? 0
        starts[count] = at
        while (at < end && sorted[at]?.charCodeAt(depth) === unit) at += 1
        ends[count] = at
        depths[count] = depth + 1
        units[count] = unit
      }
    }
    children[count] = count
    this.texts = sorted
    this.units = units.slice(0, count)
    this.children = children.slice(0, count + 1)
    this.endings = endings.slice(0, count)
    for (let child = 1; child < (children[1] ?? 0); child += 1) {
      const unit = units[child] ?? 0
      if (unit < ASCII) this.#first[unit] = child
    }
  }

  /** Returns `true` if a text ends at the node. */
  isEnd(node: number): boolean {
    return this.endings[node] !== 0
  }

  /** Returns the child of a node with a unit, or 0 if there is none. */
  childOf(node: number, unit: number): number {
    if (node === 0 && unit < ASCII) return this.#first[unit] ?? 0
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
   * Returns `true` if `text` starts with a text of the tree. If `from` is `end`, the units of
   * `text` are read in reverse order.
   */
  isIn(text: string, from: 'start' | 'end'): boolean {
    const { length } = text
    let node = 0
    for (let at = 0; at < length && !this.isEnd(node); at += 1) {
      node = this.childOf(node, text.charCodeAt(from === 'start' ? at : length - 1 - at))
      if (node === 0) return false
    }
    return this.isEnd(node)
  }

  /** Returns the index of a text in `texts`, or -1 if it is not there. */
  indexOf(text: string): number {
    let node = 0
    for (let at = 0; at < text.length; at += 1) {
      node = this.childOf(node, text.charCodeAt(at))
      if (node === 0) return -1
    }
    return (this.endings[node] ?? 0) - 1
  }

  /**
   * Returns the node of the longest suffix of the path to `from`, followed by `unit`, that is in
   * the tree. Returns 0, the root, if there is none. `links` are the suffix links.
   */
  nodeAfter(from: number, unit: number, links: Uint32Array): number {
    for (let node = from; ; node = links[node] ?? 0) {
      const child = this.childOf(node, unit)
      if (child !== 0 || node === 0) return child
    }
  }

  /**
   * Returns the suffix link of each node: the node of the longest suffix of its path that is in the
   * tree, except for the path itself.
   */
  suffixLinks(): Uint32Array {
    const { units, children } = this
    const links = new Uint32Array(units.length)
    // The order is breadth first, so that the link of a node is known before its children.
    for (let node = 1; node < units.length; node += 1) {
      const end = children[node + 1] ?? 0
      for (let child = children[node] ?? 0; child < end; child += 1) {
        links[child] = this.nodeAfter(links[node] ?? 0, units[child] ?? 0, links)
      }
    }
    return links
  }
}

/**
 * Returns the texts sorted by UTF-16 units, without texts that start with another text of the list.
 */
export function prefixFree(texts: readonly string[]): readonly string[] {
  const kept: string[] = []
  for (const text of [...texts].sort()) {
    const last = kept.at(-1)
    if (last === undefined || !text.startsWith(last)) kept.push(text)
  }
  return kept
}
