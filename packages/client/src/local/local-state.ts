import type { Extensions, FlagSet } from '@ff/core'
import type { FlagType } from '@ff/core/flag-types'
import { createAlarms } from '../connection/alarms.ts'
import type { Connection } from '../connection/connection-state.ts'
import type { Platform } from '../connection/platform.ts'
import { callWatchers, type Watchers } from '../values/listening.ts'
import { reportNew } from '../values/reporting.ts'
import type { FlagCache } from '../values/value-cache.ts'
import { asCachedFlagSet, cacheNameOf, cacheTextOf } from './cached-flag-set.ts'
import { type FlagSetState, useFlagSet } from './flag-set-state.ts'
import type { FlagSetSync } from './flag-set-sync.ts'
import { type HeldFlagSet, heldAfter, type Refusal, type WholeDefinition } from './held-flag-set.ts'
import { LocalEvaluator } from './local-evaluator.ts'
import { createUsageReporter, reportEvaluation, type UsageReporter } from './usage-reporter.ts'

/** The parts of a local client. */
export interface LocalStateOptions {
  readonly url: string
  readonly sdkKey: string
  readonly platform: Platform
  readonly types: ReadonlyMap<string, FlagType<unknown>>
  readonly extensions: Extensions | undefined
  readonly cache: FlagCache | undefined
  /** `true` if evaluations are reported. */
  readonly hasUsage: boolean
  readonly report: (error: unknown) => void
}

/** The state of a local client. */
export interface LocalState extends FlagSetState {
  readonly options: LocalStateOptions
  readonly sync: FlagSetSync
  /** `undefined` if evaluations are not reported. */
  readonly reporter: UsageReporter | undefined
  /** `undefined` if the server is not a source. */
  connection: Connection | undefined
  /** The functions that are called after each change of the status. */
  readonly watchers: Watchers
  readonly report: (error: unknown) => void
  /** The callers that wait until the flag set is current. */
  readonly pendingReady: Set<() => void>
  /** `true` if nothing has to be awaited any longer. */
  isReady: boolean
  isClosed: boolean
  /** The time at which the server last confirmed the flag set, in epoch milliseconds. */
  updatedAt: number | undefined
  /** The views for clients, by flag set. */
  readonly clientViews: WeakMap<FlagSet, FlagSet>
  /** The flag set that was last given to the cache. */
  saved: HeldFlagSet | undefined
  /** The end of all writes to the cache. */
  saving: Promise<void>
  /** Reports the failure of a write, unless the last one failed in the same way. */
  readonly noteSaving: (error?: unknown) => void
}

/** The name of the alarm that writes to the cache. */
export const SAVE = 'save'
const SAVE_INTERVAL_MS = 10_000

const REFUSALS: Readonly<Record<Refusal, string>> = {
  gap: 'it contains the changes of another version',
  older: 'its version is older',
  root: 'its definitions do not have the expected root',
  definition: 'its definitions cannot be compiled',
}

/** Creates the state of a local client without a flag set and without a connection. */
export function createLocalState(options: LocalStateOptions): LocalState {
  const { platform, url, sdkKey, types, extensions, report, hasUsage } = options
  const { clock } = platform
  const alarms = createAlarms(clock)
  const isAway = () => state.connection?.failure !== undefined
  const reporter = hasUsage
    ? createUsageReporter({ url, sdkKey, platform, alarms, isAway, report })
    : undefined
  const count: LocalEvaluator['options']['count'] = reporter
    ? (flag, code, now) => reportEvaluation(reporter, flag, code, now)
    : () => {}
  const state: LocalState = {
    options,
    alarms,
    clock,
    reporter,
    evaluator: new LocalEvaluator({ types, now: () => clock.now(), count, report }),
    listeners: { functions: new Set(), report },
    sync: {
      sdkKey,
      extensions,
      held: undefined,
      needsWhole: false,
      onRefusal: (refusal) => reportRefusal(state, refusal),
    },
    connection: undefined,
    watchers: new Set(),
    report,
    pendingReady: new Set(),
    clientViews: new WeakMap(),
    ...{ steppedAt: clock.now(), isReady: false, isClosed: false },
    ...{ updatedAt: undefined, saved: undefined },
    saving: Promise.resolve(),
    noteSaving: reportNew(report),
  }
  return state
}

function reportRefusal({ options }: LocalState, refusal: Refusal): void {
  const message = `An update of the flag set is not used, because ${REFUSALS[refusal]}`
  options.report(Object.assign(new Error(message), { code: 'unusedUpdate' }))
}

/** Uses the flag set that the server has confirmed. */
export function useServer(state: LocalState): void {
  const { sync, alarms, clock, options } = state
  const { held } = sync
  if (held === undefined) return
  state.updatedAt = clock.now()
  if (options.cache && held !== state.saved && !alarms.has(SAVE)) {
    alarms.set(SAVE, state.saved ? SAVE_INTERVAL_MS : 0, () => save(state))
  }
  useFlagSet(state, held.flagSet, 'server')
  settleReady(state)
}

/** Uses a flag set of another source if it is newer. Returns `true` if it is used. */
export function offer(
  state: LocalState,
  definition: WholeDefinition,
  source: 'cache' | 'bootstrap',
): boolean {
  const { sync, isClosed, options } = state
  const { held } = sync
  if (isClosed || (held && definition.version <= held.flagSet.version)) return false
  const after = heldAfter(held, definition, { extensions: options.extensions })
  if (typeof after === 'string') reportRefusal(state, after)
  else {
    sync.held = after
    useFlagSet(state, after.flagSet, source)
    callWatchers(state)
  }
  return typeof after !== 'string'
}

/** Reads the cache, immediately if it is synchronous. Never rejects. */
export function loadCached(state: LocalState): void {
  const { options, sync } = state
  const { cache, report } = options
  if (cache === undefined) return
  const owner = ownerOf(options)
  const use = (text: unknown) => {
    const cached = asCachedFlagSet(owner, text)
    if (cached === undefined || !offer(state, cached.definition, 'cache')) return
    state.updatedAt = cached.time
    state.saved = sync.held
  }
  try {
    const text = cache.get(cacheNameOf(owner))
    if (text instanceof Promise) text.then(use).catch(report)
    else use(text)
  } catch (error) {
    report(error)
  }
}

/** Writes the flag set to the cache, after earlier writes. */
export function save(state: LocalState): void {
  const { sync, options, updatedAt = 0 } = state
  const { cache } = options
  const { held } = sync
  if (cache === undefined || held === undefined) return
  state.saved = held
  const owner = ownerOf(options)
  state.saving = state.saving
    .then(async () => {
      await cache.set(cacheNameOf(owner), cacheTextOf(owner, held, updatedAt))
      state.noteSaving()
    })
    .catch(state.noteSaving)
}

function ownerOf({ url, sdkKey }: LocalStateOptions): string {
  return `${url}\n${sdkKey}`
}

/** Resolves the promises of callers that wait until the flag set is current. */
export function settleReady(state: LocalState): void {
  state.isReady = true
  finishReady(state)
}

/** Resolves the pending promises of `ready`. */
export function finishReady({ pendingReady }: LocalState): void {
  for (const resolve of pendingReady) resolve()
  pendingReady.clear()
}
