import type { FlagTypes } from '@ff/core/flag-types'
import type { FlagClient } from './client-interface.ts'
import { readingMethods } from './reading-methods.ts'
import { changedState, createFlagStore, type FlagStore, setState } from './values/flag-store.ts'
import { callWatchers } from './values/listening.ts'

/** A client whose values are set by a test. It has no connection. */
export interface TestClient<Values> extends FlagClient<Values> {
  /** Sets values of flags, and calls the listeners of changed values. Other flags keep theirs. */
  set(values: Partial<Values>): void
}

/**
 * Creates a client for tests. Flags without a value have their fallback. `setContext` and `reset`
 * resolve immediately and keep the values.
 */
export function createTestClient<Values>(
  flags: Pick<FlagTypes<Values>, 'types'>,
  values: Partial<NoInfer<Values>> = {},
): TestClient<Values> {
  const store = createFlagStore({
    types: new Map(Object.entries(flags.types)),
    overrides: new Map(),
    report: () => {},
    invalidContext: undefined,
  })
  let isOpen = true
  const setOpen = (next: boolean) => {
    isOpen = next
    callWatchers(store)
  }
  const set = (changes: object) => {
    if (isOpen) setValues(store, changes)
  }
  set(values)
  const client = {
    ...readingMethods(store),
    set,
    get status() {
      const { source, version, updatedAt } = store.shown
      const connection = isOpen ? 'socket' : 'closed'
      const state = { isOfContext: true, isCurrent: isOpen, connection } as const
      return store.keep(undefined, { source, ...state, version, updatedAt, failure: undefined })
    },
    setContext: () => Promise.resolve(),
    async reset() {
      store.isFrozen = false
      setState(store, store.current)
    },
    ready: () => Promise.resolve('live'),
    connect: () => setOpen(true),
    close: () => setOpen(false),
  }
  // The compiler cannot derive `Values` from the keys of a map.
  return client as unknown as TestClient<Values>
}

function setValues(store: FlagStore, values: object): void {
  const { version } = store.current
  const changes = {
    flags: { ...values },
    isFull: false,
    version: version + 1,
    source: 'server',
    contextText: '{}',
  } as const
  setState(store, changedState(store, changes))
}
