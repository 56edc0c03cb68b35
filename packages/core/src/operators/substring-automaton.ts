import type { PrefixTree } from './prefix-tree.ts'

/** The minimum number of children with which a node always has a row, as a share of all units. */
const WIDE = 1 / 8
/**
 * The total size of rows up to which every inner node gets a row. Most searches stay near the root.
 */
const ROOM_NEAR_ROOT = 16_384

/** The state after a listed text has been found. */
const FOUND = -1

/**
 * The Aho-Corasick automaton of a prefix tree. The current node is the longest suffix of the text
 * read so far that is a prefix of a listed text. The next unit selects a child of that node. If
 * there is none, the search continues from the fallback, which is the next shorter such suffix.
 *
 * Some nodes have a transition row, which contains the next state for every unit: the root, nodes
 * with many children and nodes near the root.
 *
 * A state is the offset of the row of its node, `FOUND`, or `-2 - node` for a node without a row.
 * The offset of the root is 0.
 */
export class SubstringAutomaton {
  readonly #tree: PrefixTree
  readonly #numbers: UnitNumbers
  /** The state of each node. */
  readonly #states: Int32Array
  /** The state of the fallback of each node. */
  readonly #fallbacks: Int32Array
  readonly #rows: Int32Array

  constructor(tree: PrefixTree) {
    const { length } = tree.units
    this.#tree = tree
    this.#numbers = new UnitNumbers(tree.units)
    this.#states = new Int32Array(length)
    this.#fallbacks = new Int32Array(length)
    this.#rows = new Int32Array(this.#placeRows())
    if (tree.isEnd(0)) this.#states[0] = FOUND
    const links = tree.suffixLinks()
    // The order is breadth first, so that the fallbacks of a node are complete before the node.
    for (let node = 0; node < length; node += 1) this.#complete(node, links)
  }

  /** Returns `true` if the text contains a text of the list. */
  isIn(text: string): boolean {
    const { pageOf, pages } = this.#numbers
    const rows = this.#rows
    const { length } = text
    let state = this.#states[0] ?? 0
    for (let at = 0; at < length && state !== FOUND; at += 1) {
      const unit = text.charCodeAt(at)
      const number = pages[((pageOf[unit >> 8] ?? 0) << 8) | (unit & 0xff)] ?? 0
      state = state >= 0 ? (rows[state + number] ?? 0) : this.#next(state, unit, number)
    }
    return state === FOUND
  }

  /** Returns the state after the next unit. */
  #next(from: number, unit: number, number: number): number {
    const { units, children } = this.#tree
    let state = from
    while (state < 0) {
      const node = -2 - state
      const first = children[node] ?? 0
      if (units[first] === unit) return this.#states[first] ?? 0
      // Most nodes have only one child.
      if ((children[node + 1] ?? 0) - first > 1) {
        const child = this.#tree.childOf(node, unit)
        if (child !== 0) return this.#states[child] ?? 0
      }
      state = this.#fallbacks[node] ?? 0
    }
    return this.#rows[state + number] ?? 0
  }

  /** Assigns rows to nodes, and returns the total size of the rows. */
  #placeRows(): number {
    const { children, units } = this.#tree
    const width = this.#numbers.count + 1
    let end = 0
    for (let node = 0; node < units.length; node += 1) {
      const count = (children[node + 1] ?? 0) - (children[node] ?? 0)
      const isWide = count > 1 && count >= WIDE * width
      const isNear = count > 0 && end + width <= ROOM_NEAR_ROOT
      const hasRow = node === 0 || isWide || isNear
      this.#states[node] = hasRow ? end : -2 - node
      if (hasRow) end += width
    }
    return end
  }

  /** Fills the row of a node, if it has one, and sets the fallbacks of its children. */
  #complete(node: number, links: Uint32Array): void {
    const { children, units } = this.#tree
    const { count, units: byNumber } = this.#numbers
    const row = this.#states[node] ?? 0
    const fallback = this.#fallbacks[node] ?? 0
    for (let number = 1; node !== 0 && row >= 0 && number <= count; number += 1) {
      this.#rows[row + number] = this.#next(fallback, byNumber[number] ?? 0, number)
    }
    const end = children[node + 1] ?? 0
    for (let child = children[node] ?? 0; child < end; child += 1) {
      const unit = units[child] ?? 0
      const state = this.#states[links[child] ?? 0] ?? 0
      this.#fallbacks[child] = state
      if (this.#tree.isEnd(child) || state === FOUND) this.#states[child] = FOUND
      if (row >= 0) this.#rows[row + this.#numbers.of(unit)] = this.#states[child] ?? 0
    }
  }
}

/** Numbers the distinct units of a list, starting at 1. All other units have the number 0. */
class UnitNumbers {
  readonly count: number
  /** The unit of each number. */
  readonly units: Uint16Array
  /** The index of the page that contains the number of a unit, by the upper byte of the unit. */
  readonly pageOf = new Uint16Array(256)
  /** The number of each unit, by page and the lower byte of the unit. */
  readonly pages: Uint16Array

  constructor(units: Uint16Array) {
    // The root has no unit.
    const different = [...new Set(units.subarray(1))].sort((left, right) => left - right)
    this.count = different.length
    this.units = Uint16Array.from([0, ...different])
    let last = 0
    for (const unit of different) {
      if (this.pageOf[unit >> 8] === 0) this.pageOf[unit >> 8] = last += 1
    }
    this.pages = new Uint16Array((last + 1) << 8)
    for (const [index, unit] of different.entries()) {
      this.pages[((this.pageOf[unit >> 8] ?? 0) << 8) | (unit & 0xff)] = index + 1
    }
  }

  of(unit: number): number {
    return this.pages[((this.pageOf[unit >> 8] ?? 0) << 8) | (unit & 0xff)] ?? 0
  }
}
