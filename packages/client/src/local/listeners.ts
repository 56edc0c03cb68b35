/** A function that receives the keys of the flags that can have other values than before. */
export type FlagSetListener = (flagKeys: readonly string[]) => void

/** Functions that are called with the keys of changed flags. */
export interface Listeners {
  readonly functions: Set<FlagSetListener>
  readonly report: (error: unknown) => void
}

/** Adds a listener. Returns a function that removes it. */
export function addListener({ functions }: Listeners, callback: FlagSetListener): () => void {
  // Each call adds another function, so that one callback can be added twice.
  const listener: FlagSetListener = (flagKeys) => callback(flagKeys)
  functions.add(listener)
  return () => {
    functions.delete(listener)
  }
}

/** Calls all listeners. If one throws, reports the error and calls the others. */
export function callListeners({ functions, report }: Listeners, flagKeys: readonly string[]): void {
  if (flagKeys.length === 0) return
  for (const listener of [...functions]) {
    try {
      // A listener can remove others.
      if (functions.has(listener)) listener(flagKeys)
    } catch (error) {
      report(error)
    }
  }
}
