/** An item of a ranking; both fields are set by the ranking alone. */
export interface Ranked {
  amount: number
  /** Where the item is in the ranking; -1: in none. */
  rank: number
}

/**
 * Items of which the one with the largest amount is at hand: a binary heap. Adding, removing and
 * changing one item takes a time that grows with the logarithm of the number of items.
 */
export class Ranking<Item extends Ranked> {
  readonly #items: Item[] = []

  /** The item with the largest amount, or one of several; `undefined` if there are no items. */
  get largest(): Item | undefined {
    return this.#items[0]
  }

  /** Sets the amount of an item, which is added if it is in no ranking. */
  set(item: Item, amount: number): void {
    item.amount = amount
    this.#place(item, item.rank === -1 ? this.#items.length : item.rank)
  }

  /** Removes an item of this ranking. */
  remove(item: Item): void {
    const last = this.#items.pop()
    if (last !== undefined && last !== item) this.#place(last, item.rank)
    item.rank = -1
  }

  /** Puts an item where it belongs, beginning at a free place. */
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

  /** The larger of the two items below a place. */
  #below(at: number): Item | undefined {
    const left = this.#items[2 * at + 1]
    const right = this.#items[2 * at + 2]
    return right !== undefined && left !== undefined && right.amount > left.amount ? right : left
  }
}
