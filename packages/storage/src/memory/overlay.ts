/** Uncommitted changes over a base map. The base map does not change before `commit`. */
export class Overlay<V> {
  readonly #base: Map<string, V>
  /** The new values; `undefined` marks a deleted entry. */
  readonly #changed = new Map<string, V | undefined>()

  constructor(base: Map<string, V>) {
    this.#base = base
  }

  get(key: string): V | undefined {
    return this.#changed.has(key) ? this.#changed.get(key) : this.#base.get(key)
  }

  set(key: string, value: V): void {
    this.#changed.set(key, value)
  }

  delete(key: string): void {
    this.#changed.set(key, undefined)
  }

  *entries(): Iterable<readonly [string, V]> {
    for (const entry of this.#base) {
      if (!this.#changed.has(entry[0])) yield entry
    }
    for (const [key, value] of this.#changed) {
      if (value !== undefined) yield [key, value]
    }
  }

  *values(): Iterable<V> {
    for (const [, value] of this.entries()) yield value
  }

  commit(): void {
    for (const [key, value] of this.#changed) {
      if (value === undefined) this.#base.delete(key)
      else this.#base.set(key, value)
    }
    this.#changed.clear()
  }
}
