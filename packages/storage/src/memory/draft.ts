/** Changes of a map that are seen here only, until they are committed to it. */
export class Draft<V> {
  readonly #base: Map<string, V>
  readonly #changed = new Map<string, V>()

  constructor(base: Map<string, V>) {
    this.#base = base
  }

  get(key: string): V | undefined {
    return this.#changed.get(key) ?? this.#base.get(key)
  }

  set(key: string, value: V): void {
    this.#changed.set(key, value)
  }

  *values(): Iterable<V> {
    for (const [key, value] of this.#base) yield this.#changed.get(key) ?? value
    for (const [key, value] of this.#changed) {
      if (!this.#base.has(key)) yield value
    }
  }

  commit(): void {
    for (const [key, value] of this.#changed) this.#base.set(key, value)
    this.#changed.clear()
  }
}
