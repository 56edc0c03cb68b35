import type { PrefixTree } from './prefix-tree.ts'

/** A node has a row if it has at least this share of all units as children, */
const WIDE = 1 / 8
/** or if rows have taken no more room than this: searches mostly stay near the root. */
const ROOM_NEAR_ROOT = 16_384

/** The state in which a listed text has been found. */
const FOUND = -1

/**
 * The automaton of Aho and Corasick over a prefix tree. While text is read, the current node is the
 * longest ending of what was read that begins a listed text. A unit leads to a child of it; if there
 * is none, the search goes on from the next shorter ending. The root and wide nodes have a row, which
 * holds for each unit the state that it leads to in the end.
 *
 * A state is where the row of its node begins, that of the root at 0; `FOUND`; or `-2 - node` for a
 * node without a row.
 */
export class SubstringAutomaton {
  readonly #tree: PrefixTree
  readonly #numbers: UnitNumbers
  /** By node. */
  readonly #states: Int32Array
  /** By node: the state of the next shorter ending. */
  readonly #fallbacks: Int32Array
  readonly #rows: Int32Array

  constructor(tree: PrefixTree) {
    const { length } = tree.units
    this.#tree = tree
    this.#numbers = new UnitNumbers(tree.units)
    this.#states = new Int32Array(length)
    this.#fallbacks = new Int32Array(length)
    this.#rows = new Int32Array(this.#placeRows())
    if (tree.isLeaf(0)) this.#states[0] = FOUND
    // Breadth first: shorter endings are complete before the longer ones that lead to them.
    const endings = new Uint32Array(length)
    for (let node = 0; node < length; node += 1) this.#complete(node, endings)
  }

  /** Whether a text of the list is part of the text. */
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

  /** The state after one more unit. */
  #next(from: number, unit: number, number: number): number {
    const { units, children } = this.#tree
    let state = from
    while (state < 0) {
      const node = -2 - state
      const first = children[node] ?? 0
      if (units[first] === unit) return this.#states[first] ?? 0
      // Mostly there is one child.
      if ((children[node + 1] ?? 0) - first > 1) {
        const child = this.#tree.childOf(node, unit)
        if (child !== 0) return this.#states[child] ?? 0
      }
      state = this.#fallbacks[node] ?? 0
    }
    return this.#rows[state + number] ?? 0
  }

  /** Decides which nodes have rows, and returns the room that these take. */
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

  /**
   * Fills the row of a node, if it has one, and decides where the search goes on from its children.
   * `endings` holds for each node that of the next shorter ending.
   */
  #complete(node: number, endings: Uint32Array): void {
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
      const ending = node === 0 ? 0 : this.#nodeAfter(endings[node] ?? 0, unit, endings)
      const state = this.#states[ending] ?? 0
      endings[child] = ending
      this.#fallbacks[child] = state
      if (this.#tree.isLeaf(child) || state === FOUND) this.#states[child] = FOUND
      if (row >= 0) this.#rows[row + this.#numbers.of(unit)] = this.#states[child] ?? 0
    }
  }

  /** The node of the longest ending of a node and one more unit. */
  #nodeAfter(from: number, unit: number, endings: Uint32Array): number {
    for (let node = from; ; node = endings[node] ?? 0) {
      const child = this.#tree.childOf(node, unit)
      if (child !== 0 || node === 0) return child
    }
  }
}

/** Numbers the different units of a list from 1 on; 0 is every other unit. */
class UnitNumbers {
  readonly count: number
  /** By number. */
  readonly units: Uint16Array
  /** The page of a unit by its upper half, and by page and lower half its number. */
  readonly pageOf = new Uint16Array(256)
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
