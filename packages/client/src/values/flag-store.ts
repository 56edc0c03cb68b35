import type { FlagValues, JsonValue } from '@ff/core'
import type { FlagType } from '@ff/core/flag-types'
import { type FlagSnapshot, toSnapshot } from '@ff/protocol/snapshot'
import type { ClientErrorCode, FlagDetail, ValueSource } from './flag-detail.ts'
import { createKeep, type Keep } from './kept.ts'
import { addListener, attempt, callWatchers, type Watchers } from './listening.ts'

/** The values of one context. A state never changes; an update creates the next one. */
export interface FlagState {
  /** The text of the context; `undefined` if it is not known. */
  readonly contextText: string | undefined
  readonly source: ValueSource
  readonly version: number
  readonly updatedAt?: number | undefined
  /** The last known values. */
  readonly values: ReadonlyMap<string, unknown>
  /** The flags whose last known value is not what the server sent, with the reason. */
  readonly faults: ReadonlyMap<string, ClientErrorCode>
}

/** New values of a state. */
export interface FlagChanges extends Omit<FlagState, 'values' | 'faults'> {
  readonly flags: Readonly<Record<string, unknown>>
  /** `true` if `flags` contains all flags. */
  readonly isFull: boolean
  /** The keys of removed flags. */
  readonly removed?: readonly string[] | undefined
}

interface Subscribers {
  /** The value with which the listeners were called last. */
  value: unknown
  readonly listeners: Set<(value: unknown) => void>
}

/** The values of a client, and the listeners for their changes. */
export interface FlagStore {
  readonly types: ReadonlyMap<string, FlagType<unknown>>
  readonly overrides: ReadonlyMap<string, unknown>
  /** The values that are read. They differ from `current` while the store is frozen. */
  shown: FlagState
  /** The newest values. */
  current: FlagState
  isFrozen: boolean
  /** The part that refuses the last context; `undefined` if the context is valid. */
  invalidContext: 'client' | 'server' | undefined
  readonly subscribers: Map<string, Subscribers>
  /** The functions that are called after each change of the values or the status. */
  readonly watchers: Watchers
  readonly report: (error: unknown) => void
  /** Keeps the identity of the status and of details. */
  readonly keep: Keep
}

/** Creates a store without values. */
export function createFlagStore(
  options: Pick<FlagStore, 'types' | 'overrides' | 'report' | 'invalidContext'>,
): FlagStore {
  const none = noValues(undefined)
  return {
    ...options,
    shown: none,
    current: none,
    isFrozen: false,
    subscribers: new Map(),
    watchers: new Set(),
    keep: createKeep(),
  }
}

/** Returns the state of a context without values. */
export function noValues(contextText: string | undefined): FlagState {
  return { contextText, source: 'fallback', version: 0, values: new Map(), faults: new Map() }
}

/**
 * Returns the state after changes to the current state. A value that equals the current value as
 * JSON keeps its identity. A value of a wrong type and a missing flag leave the last known value of
 * the context unchanged.
 */
export function changedState(store: FlagStore, changes: FlagChanges): FlagState {
  const { flags, isFull, removed = [], ...rest } = changes
  const { current, types } = store
  const isSameContext = current.contextText === rest.contextText
  const values = new Map(isSameContext ? current.values : [])
  const faults = new Map(isSameContext ? current.faults : [])
  // The loop below replaces the faults of the flags that are present.
  for (const key of isFull ? values.keys() : removed) faults.set(key, 'FLAG_NOT_FOUND')
  for (const [key, value] of Object.entries(flags)) {
    faults.set(key, 'TYPE_MISMATCH')
    try {
      const known = current.values.get(key)
      const isSame = JSON.stringify(known) === JSON.stringify(value)
      if (types.get(key)?.isValue(value) === false) continue
      values.set(key, isSame ? known : value)
      faults.delete(key)
    } catch (error) {
      // The application's check has failed, or the value is nested too deeply.
      store.report(error)
    }
  }
  return { ...rest, values, faults }
}

/** Replaces the current state, and calls the listeners of all changed values. */
export function setState(store: FlagStore, state: FlagState): void {
  store.current = state
  if (store.isFrozen) return
  store.shown = state
  const changed: [Subscribers, unknown][] = []
  for (const [key, subscribers] of store.subscribers) {
    const value = shownValue(store, key)
    if (value !== subscribers.value) changed.push([subscribers, value])
    subscribers.value = value
  }
  for (const [subscribers, value] of changed) {
    for (const listener of [...subscribers.listeners]) {
      // A listener can change the values again. The later change calls all listeners.
      if (subscribers.value !== value) break
      attempt(store, () => listener(value))
    }
  }
  callWatchers(store)
}

/** Returns the value of a flag: its override, its last known value or a fallback. */
export function shownValue(store: FlagStore, key: string, fallback?: unknown): unknown {
  const { overrides, shown, types } = store
  if (overrides.has(key)) return overrides.get(key)
  if (shown.values.has(key)) return shown.values.get(key)
  return fallback === undefined ? types.get(key)?.fallback : fallback
}

/** Returns the value of a flag with its origin. Equal details are the same object. */
export function detailOf(store: FlagStore, key: string, fallback?: unknown): FlagDetail<unknown> {
  return store.keep(key, freshDetail(store, key, fallback))
}

function freshDetail(store: FlagStore, key: string, fallback: unknown): FlagDetail<unknown> {
  const { overrides, shown, invalidContext } = store
  const { version, source, values, faults } = shown
  const value = shownValue(store, key, fallback)
  if (overrides.has(key)) return { value, source: 'override', version }
  const isKnown = values.has(key)
  const absent = source === 'fallback' ? 'PROVIDER_NOT_READY' : 'FLAG_NOT_FOUND'
  const fault = faults.get(key) ?? (isKnown ? undefined : absent)
  const errorCode = invalidContext ? 'INVALID_CONTEXT' : fault
  const error = errorCode && ({ reason: 'ERROR', errorCode } as const)
  return { value, source: isKnown ? source : 'fallback', version, ...error }
}

/** Adds a listener. Returns a function that removes it. */
export function subscribe(
  store: FlagStore,
  key: string,
  callback: (value: unknown) => void,
): () => void {
  const { subscribers } = store
  const known = subscribers.get(key) ?? { value: shownValue(store, key), listeners: new Set() }
  subscribers.set(key, known)
  return addListener(known.listeners, callback)
}

/** Returns the current values, without those of removed flags. */
export function snapshotOf({ current }: FlagStore): FlagSnapshot {
  const { contextText, version, values, faults } = current
  const served = [...values].filter(([key]) => faults.get(key) !== 'FLAG_NOT_FOUND')
  const flags = Object.fromEntries(served) as Record<string, JsonValue> satisfies FlagValues
  return toSnapshot(flags, version, contextText)
}
