/** An item of a ranking. Only the ranking may set its fields. */
export interface Ranked {
  /** The number by which items are ranked. */
  amount: number
  /** The position of the item in the ranking; -1 if the item is in no ranking. */
  rank: number
}

/**
 * A binary heap that provides the item with the largest amount. Adding, removing and changing an
 * item takes logarithmic time.
 */
export class Ranking<Item extends Ranked> {
  readonly #items: Item[] = []

  /**
   * The item with the largest amount, or one of several such items; `undefined` if the ranking is
   * empty.
   */
  get largest(): Item | undefined {
    return this.#items[0]
  }

  /** Sets the amount of an item. Adds the item if it is in no ranking. */
  set(item: Item, amount: number): void {
    item.amount = amount
    this.#place(item, item.rank === -1 ? this.#items.length : item.rank)
  }

  /** Removes an item, which must be in this ranking. */
  remove(item: Item): void {
    const last = this.#items.pop()
    if (last !== undefined && last !== item) this.#place(last, item.rank)
    item.rank = -1
  }

  /** Moves an item to its correct position, starting at a free position. */
  #place(item: Item, free: number): void {
    let at = free
    for (let above = this.#above(at); above !== undefined && above.amount < item.amount; ) {
      const next = above.rank
      this.#put(above, at)
      at = next
      above = this.#above(at)
    }
    for (let below = this.#below(at); below !== undefined && below.amount > item.amount; ) {
      const next = below.rank
      this.#put(below, at)
      at = next
      below = this.#below(at)
    }
    this.#put(item, at)
  }

  #put(item: Item, at: number): void {
    this.#items[at] = item
    item.rank = at
  }

  #above(at: number): Item | undefined {
    return at === 0 ? undefined : this.#items[(at - 1) >> 1]
  }

  /** Returns the larger of the two items below a position. */
  #below(at: number): Item | undefined {
    const left = this.#items[2 * at + 1]
    const right = this.#items[2 * at + 2]
    return right !== undefined && left !== undefined && right.amount > left.amount ? right : left
  }
}
