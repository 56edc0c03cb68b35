/** Keeps the key of a context for the playground. It is only in memory, never in the address. */
class OfferedKey {
  #key: string | undefined
  readonly #listeners = new Set<() => void>()

  offer(key: string): void {
    this.#key = key
    for (const listener of this.#listeners) listener()
  }

  /** Returns the key once. */
  take(): string | undefined {
    const key = this.#key
    this.#key = undefined
    return key
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

const offered = new OfferedKey()

/** Hands the key of a user over to the playground, which shows it when it is opened or is open. */
export function offerContextKey(key: string): void {
  offered.offer(key)
}

/** Calls `onKey` with the offered key, now and later. Returns a function that ends this. */
export function acceptContextKeys(onKey: (key: string) => void): () => void {
  const accept = () => {
    const key = offered.take()
    if (key !== undefined) onKey(key)
  }
  accept()
  return offered.subscribe(accept)
}
