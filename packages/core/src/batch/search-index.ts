import type { SearchKind } from '../operators/list-search.ts'
import { PrefixTree } from '../operators/prefix-tree.ts'
import { reversed } from '../operators/text-search.ts'
import { append, copy, type IndexBits } from './bit-set.ts'

/**
 * The index of searches for texts. One pass over a text finds all listed texts, and changes the
 * result of the rule rows that list them.
 */
export class SearchIndex {
  readonly kind: SearchKind
  readonly #tree: PrefixTree
  /** The suffix link of each node. All are 0 unless texts are searched for anywhere. */
  readonly #links: Uint32Array
  /**
   * The offset in the bits of the pairs (see `bit-set.ts`) of each text of the tree. The last
   * number is the end of all pairs.
   */
  readonly #offsets: Int32Array
  /** The number of the last search that reached each node. */
  readonly #reached: Float64Array
  #searches = 0

  /** Appends the pairs of the rule rows that list each text to `bits`. */
  constructor(kind: SearchKind, rows: ReadonlyMap<string, readonly number[]>, bits: number[]) {
    const read = kind.place === 'end' ? reversed : (text: string) => text
    const pairs = new Map(Array.from(rows, ([text, each]) => [read(text), each]))
    const tree = new PrefixTree(pairs.keys())
    const offsets = [bits.length]
    for (const text of tree.texts) {
      append(bits, pairs.get(text) ?? [])
      offsets.push(bits.length)
    }
    this.kind = kind
    this.#tree = tree
    this.#links =
      kind.place === 'anywhere' ? tree.suffixLinks() : new Uint32Array(tree.units.length)
    this.#offsets = Int32Array.from(offsets)
    this.#reached = new Float64Array(tree.units.length)
  }

  /**
   * Returns the place of the set for a text. `unlisted` is the place of the set for a text in which
   * no listed text is found.
   */
  placeOf(text: string, unlisted: number, bits: IndexBits): number {
    const { fold, place } = this.kind
    const searched = fold(text)
    const { length } = searched
    const tree = this.#tree
    const links = this.#links
    const reached = this.#reached
    this.#searches += 1
    const search = this.#searches
    reached[0] = search
    let found = unlisted
    let node = 0
    for (let at = 0; at < length; at += 1) {
      const unit = searched.charCodeAt(place === 'end' ? length - 1 - at : at)
      node = place === 'anywhere' ? tree.nodeAfter(node, unit, links) : tree.childOf(node, unit)
      if (node === 0 && place !== 'anywhere') break
      // Each node is used only once, so that the cost does not grow with the repetitions in a text.
      for (let each = node; reached[each] !== search; each = links[each] ?? 0) {
        reached[each] = search
        const ending = tree.endings[each] ?? 0
        if (ending === 0) continue
        if (found === unlisted) found = copy(unlisted, bits)
        this.#invert(ending - 1, unlisted, bits)
      }
    }
    return found
  }

  /** Returns the place of the set for an array with these scalars, like `placeOf`. */
  placeOfElements(texts: Iterable<string>, unlisted: number, bits: IndexBits): number {
    let found = unlisted
    for (const text of texts) {
      const index = this.#tree.indexOf(text)
      if (index === -1) continue
      if (found === unlisted) found = copy(unlisted, bits)
      this.#invert(index, unlisted, bits)
    }
    return found
  }

  /** Sets the rule rows in the room that list a text to the opposite of their results in `unlisted`. */
  #invert(index: number, unlisted: number, { bits, room }: IndexBits): void {
    const end = this.#offsets[index + 1] ?? 0
    for (let pair = this.#offsets[index] ?? 0; pair < end; pair += 2) {
      const word = bits[pair] ?? 0
      const mask = bits[pair + 1] ?? 0
      const kept = (bits[room + word] ?? 0) & ~mask
      bits[room + word] = kept | (~(bits[unlisted + word] ?? 0) & mask)
    }
  }
}
