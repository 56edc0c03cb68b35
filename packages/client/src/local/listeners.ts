import { attempt } from '../values/listening.ts'

/** A function that receives the keys of the flags that can have other values than before. */
export type FlagSetListener = (flagKeys: readonly string[]) => void

/** Functions that are called with the keys of changed flags. */
export interface Listeners {
  readonly functions: Set<FlagSetListener>
  readonly report: (error: unknown) => void
}

/** Calls all listeners. If one throws, reports the error and calls the others. */
export function callListeners(listeners: Listeners, flagKeys: readonly string[]): void {
  const { functions } = listeners
  if (flagKeys.length === 0) return
  for (const listener of [...functions]) {
    // A listener can remove others.
    if (functions.has(listener)) attempt(listeners, () => listener(flagKeys))
  }
}
