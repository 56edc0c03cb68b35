/** The functions that are called after each change of a client. */
export type Watchers = Set<() => void>

/** The part of a client that has watchers. */
interface Watched {
  readonly watchers: Watchers
  readonly report: (error: unknown) => void
}

/** Adds a listener. Returns a function that removes it. */
export function addListener<Value>(
  listeners: Set<(value: Value) => void>,
  callback: (value: Value) => void,
): () => void {
  // Each call adds another function, so that one callback can be added twice.
  const listener = (value: Value) => callback(value)
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Calls a function. Reports its error. */
export function attempt({ report }: Pick<Watched, 'report'>, action: () => void): void {
  try {
    action()
  } catch (error) {
    report(error)
  }
}

/** Calls all watchers. If one throws, reports the error and calls the others. */
export function callWatchers(watched: Watched): void {
  for (const watcher of [...watched.watchers]) attempt(watched, watcher)
}
