import { murmur128Into } from '../hashing/murmur128.ts'
import { sha256, sha256Incrementally } from '../hashing/sha256.ts'
import { utf8 } from '../hashing/utf8.ts'
import { getOrMake } from '../model/get-or-make.ts'
import type { Incremental } from '../model/incremental.ts'

/** Functions that return the texts of the items of a collection. */
export interface ItemTexts<Item> {
  /** Returns the name that identifies an item in its collection. */
  readonly nameOf: (item: Item) => string
  /** Returns the text that is hashed for an item. Different items have different lines. */
  readonly lineOf: (item: Item) => string
}

/** The changes of a collection. */
export interface ItemChanges<Item> {
  /** The items to add. An item replaces the item with the same name. */
  readonly added: readonly Item[]
  /** The names of the items to remove before the others are added, or `all`. */
  readonly removed: readonly string[] | 'all'
}

interface Bucket<Item> {
  /** The items, sorted by the UTF-16 units of their names. */
  readonly items: readonly Item[]
  /** The hash of the lines. Empty if there are no items. */
  readonly hash: string
}

interface CollectionState<Item> {
  readonly buckets: readonly Bucket<Item>[]
  readonly hash: string
  readonly source: readonly Item[] | undefined
}

const EMPTY_BUCKET: Bucket<never> = { items: [], hash: '' }
/** The number of items that are divided into buckets without interruption. */
const ITEMS_PER_CHUNK = 1024

/**
 * An immutable collection of items with different names, and its hash, which does not depend on
 * their order. The first byte of the `hash128` of its name selects one of 256 buckets for an item.
 * The hash of a bucket is the SHA-256 hash of the JSON array of its lines, sorted by name. The hash
 * of the collection is the SHA-256 hash of the joined hashes of all buckets that are not empty.
 * After a change of one item, only its bucket and the hashes of the buckets are hashed again.
 */
export class BucketedHash<Item> {
  /** The hash of the collection, as 64 lower-case hex digits. */
  readonly hash: string
  readonly #texts: ItemTexts<Item>
  readonly #buckets: readonly Bucket<Item>[]
  /** The array with which all items were replaced, if they were not changed afterwards. */
  readonly #source: readonly Item[] | undefined

  private constructor(texts: ItemTexts<Item>, state: CollectionState<Item>) {
    this.#texts = texts
    this.#buckets = state.buckets
    this.#source = state.source
    this.hash = state.hash
  }

  /** Returns a collection without items. */
  static empty<Item>(texts: ItemTexts<Item>): BucketedHash<Item> {
    const buckets = Array<Bucket<Item>>(256).fill(EMPTY_BUCKET)
    return new BucketedHash(texts, { buckets, hash: sha256(''), source: undefined })
  }

  /** Returns the item with a name, or `undefined` if there is none. */
  find(name: string): Item | undefined {
    const { nameOf } = this.#texts
    return this.#buckets[bucketOf(name)]?.items.find((item) => nameOf(item) === name)
  }

  /**
   * Returns the collection after changes, and yields about once per millisecond. An array that
   * replaces all items is not read again if it is the same object as in the previous change.
   */
  *after({ added, removed }: ItemChanges<Item>): Incremental<BucketedHash<Item>> {
    const isReplaced = removed === 'all'
    if (isReplaced ? added === this.#source : added.length + removed.length === 0) return this
    const changes = new Map<number, Map<string, Item | undefined>>()
    const change = (name: string, item: Item | undefined) => {
      getOrMake(changes, bucketOf(name), () => new Map<string, Item | undefined>()).set(name, item)
    }
    if (!isReplaced) yield* inChunks(removed, (name) => change(name, undefined))
    yield* inChunks(added, (item) => change(this.#texts.nameOf(item), item))
    const buckets = [...this.#buckets]
    for (const [at, before] of buckets.entries()) {
      const changed = changes.get(at)
      if (changed === undefined && (!isReplaced || before === EMPTY_BUCKET)) continue
      const items = this.#itemsAfter(isReplaced ? [] : before.items, changed)
      buckets[at] = yield* this.#bucketWith(items, before)
      yield
    }
    const hash = yield* sha256Incrementally(buckets.map((bucket) => bucket.hash).join(''))
    return new BucketedHash(this.#texts, { buckets, hash, source: isReplaced ? added : undefined })
  }

  #itemsAfter(items: readonly Item[], changed?: ReadonlyMap<string, Item | undefined>): Item[] {
    const { nameOf } = this.#texts
    const byName = new Map(items.map((item) => [nameOf(item), item]))
    for (const [name, item] of changed ?? []) {
      if (item === undefined) byName.delete(name)
      else byName.set(name, item)
    }
    // The names are different, so that no comparison has to return 0.
    return [...byName.values()].sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1))
  }

  /** Returns the bucket with these items. Reuses the hash of `before` if the lines are equal. */
  *#bucketWith(items: readonly Item[], before: Bucket<Item>): Incremental<Bucket<Item>> {
    const lines = JSON.stringify(items.map(this.#texts.lineOf))
    if (lines === JSON.stringify(before.items.map(this.#texts.lineOf))) {
      return { items, hash: before.hash }
    }
    return { items, hash: items.length === 0 ? '' : yield* sha256Incrementally(lines) }
  }
}

/** Returns the first byte of the `hash128` of a name. */
function bucketOf(name: string): number {
  const hash = new Int32Array(4)
  murmur128Into(hash, utf8(name))
  return (hash[0] ?? 0) >>> 24
}

function* inChunks<Item>(items: readonly Item[], use: (item: Item) => void): Incremental<void> {
  for (const [at, item] of items.entries()) {
    if (at > 0 && at % ITEMS_PER_CHUNK === 0) yield
    use(item)
  }
}
