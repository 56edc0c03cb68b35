import type { FlagType } from '@ff/core/flag-types'
import { contextTextOf, type FlagSnapshot, isObject, textHash } from '@ff/protocol/snapshot'
import type { FlagClientOptions } from './client-interface.ts'
import type { Address } from './connection/address.ts'
import { type Alarms, createAlarms } from './connection/alarms.ts'
import type { ConnectionFailure } from './connection/connection-state.ts'
import { type Platform, platformWith } from './connection/platform.ts'
import { isVersion } from './json/json.ts'
import {
  changedState,
  createFlagStore,
  type FlagChanges,
  type FlagStore,
  setState,
  snapshotOf,
} from './values/flag-store.ts'
import { callWatchers } from './values/listening.ts'
import { overridesIn } from './values/overrides.ts'
import { reportTo } from './values/reporting.ts'
import { createValueCache, type ValueCache } from './values/value-cache.ts'
import { createValueSync, type ValueSync } from './values/value-sync.ts'

/** The state of a client, without its connection. */
export interface ClientState {
  readonly store: FlagStore
  readonly sync: ValueSync
  readonly alarms: Alarms
  readonly cache: ValueCache | undefined
  readonly platform: Platform
  /**
   * The functions that resolve pending promises. They are called once, after the next change of the
   * state.
   */
  readonly pending: Set<() => void>
}

/** The name of the alarm that writes to the cache. */
export const SAVE = 3
const SAVE_INTERVAL_MS = 1000

/** Creates the state of a client with the values of the bootstrap and the cache. */
export function createClientState<Values>(
  options: FlagClientOptions<Values>,
  { url, sdkKey }: Address,
): ClientState {
  const { flags, context = {}, bootstrap, cache, overrides, onError } = options
  const platform = platformWith(options)
  const types = new Map<string, FlagType<unknown>>(Object.entries(flags?.types ?? {}))
  const contextText = contextTextOf(context)
  const report = reportTo(onError)
  const state: ClientState = {
    store: createFlagStore({
      types,
      overrides: overrides ? overridesIn(String(overrides), types) : new Map(),
      report,
      invalidContext: contextText ? undefined : 'client',
    }),
    sync: createValueSync(sdkKey, contextText ?? '{}'),
    alarms: createAlarms(platform.clock),
    cache: cache && createValueCache(cache, `${url}\n${sdkKey}`, report),
    platform,
    pending: new Set(),
  }
  useBootstrap(state, bootstrap)
  useCache(state)
  return state
}

function useBootstrap(state: ClientState, bootstrap: FlagSnapshot | undefined): void {
  if (!isObject(bootstrap?.flags)) return
  const { contextText } = state.sync
  const { flags, version, context } = bootstrap
  const isOfContext = context === undefined || context === textHash(contextText)
  useStored(state, {
    flags,
    version: isOfContext && isVersion(version) ? version : 0,
    contextText: isOfContext ? contextText : undefined,
    source: 'bootstrap',
  })
}

/**
 * Uses the cached values of the current context, unless newer values are known by then. A page is
 * rendered with the values of its bootstrap: they are replaced only by values that are known to be
 * newer, because values of the same version can differ, as in a gradual rollout.
 */
export function useCache(state: ClientState): void {
  const { store, sync, cache, platform } = state
  const { contextText, id } = sync
  cache?.load(contextText, platform.clock.now(), ({ flags, version, etag, time }) => {
    const { source, contextText: known, version: knownVersion } = store.current
    const isOfContext = known === contextText
    const isKept =
      source === 'bootstrap'
        ? isOfContext && !(knownVersion && version > knownVersion)
        : (isOfContext && source === 'server') || version < knownVersion
    if (sync.id !== id || isKept) return
    sync.etag = etag
    useStored(state, { flags, version, contextText, source: 'cache', updatedAt: time })
  })
}

/** Returns `true` if the client has values of the current context. */
export function hasValues({ store, sync }: ClientState): boolean {
  const { source, contextText } = store.current
  return source !== 'fallback' && contextText === sync.contextText
}

/** Uses values that do not come from the server. */
function useStored({ store, sync }: ClientState, values: Omit<FlagChanges, 'isFull'>): void {
  sync.version = Math.max(sync.version, values.version)
  setState(store, changedState(store, { ...values, isFull: true }))
}

/** Uses the last answer of the server. */
export function useAnswer(state: ClientState): void {
  const { store, alarms } = state
  const { update, contextText } = state.sync
  const origin = { source: 'server', updatedAt: state.platform.clock.now() } as const
  if (store.invalidContext === 'server') store.invalidContext = undefined
  if (state.cache && !alarms.has(SAVE)) alarms.set(SAVE, SAVE_INTERVAL_MS, () => saveAnswer(state))
  const next = update
    ? changedState(store, { ...update, ...origin, contextText })
    : { ...store.current, ...origin }
  setState(store, next)
  settle(state)
}

/** Writes the last answer to the cache. */
export function saveAnswer(state: ClientState): void {
  const { store, sync, cache } = state
  const { source, contextText, version, updatedAt } = store.current
  if (source === 'server' && contextText) {
    const { flags } = snapshotOf(store)
    void cache?.save(contextText, { flags, version, etag: sync.etag, time: updatedAt ?? 0 })
  }
}

/** Notes the end of an attempt, and calls the watchers. */
export function noteFailure(state: ClientState, failure?: ConnectionFailure): void {
  settle(state)
  if (failure === 'invalidContext') state.store.invalidContext = 'server'
  callWatchers(state.store)
}

/** Calls the pending functions. A function that waits for another change adds itself again. */
export function settle({ pending }: ClientState): void {
  const waiting = [...pending]
  pending.clear()
  for (const each of waiting) each()
}
