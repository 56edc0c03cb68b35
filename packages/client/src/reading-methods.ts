import type { FlagClient } from './client-interface.ts'
import {
  detailOf,
  type FlagStore,
  setState,
  shownValue,
  snapshotOf,
  subscribe,
} from './values/flag-store.ts'
import { addListener } from './values/listening.ts'

/** The methods of a client that only need its values. */
export type ReadingMethods = Pick<
  FlagClient<Readonly<Record<string, unknown>>>,
  'value' | 'detail' | 'subscribe' | 'watch' | 'snapshot' | 'freeze' | 'unfreeze'
>

/** Returns the methods of a client that read the values of a store. */
export function readingMethods(store: FlagStore): ReadingMethods {
  return {
    value: (key, fallback) => shownValue(store, key, fallback),
    detail: (key, fallback) => detailOf(store, key, fallback),
    subscribe: (key, listener) => subscribe(store, key, listener),
    watch: (listener) => addListener(store.watchers, listener),
    snapshot: () => snapshotOf(store),
    freeze() {
      store.isFrozen = true
    },
    unfreeze() {
      store.isFrozen = false
      setState(store, store.current)
    },
  }
}
