import { clientView } from '@ff/core/all-flags'
import type { FlagType, FlagTypes } from '@ff/core/flag-types'
import { contextTextOf, type FlagSnapshot, toSnapshot } from '@ff/protocol/snapshot'
import type { Readiness } from './client-interface.ts'
import { addressIn } from './connection/address.ts'
import { closeConnection, openConnection, stateOf } from './connection/connection.ts'
import { createConnection } from './connection/connection-state.ts'
import { platformWith } from './connection/platform.ts'
import { readSources, SOURCES } from './local/flag-set-sources.ts'
import { followSteps, STEP } from './local/flag-set-state.ts'
import { toSubscription } from './local/flag-set-sync.ts'
import type { FlagSetListener } from './local/listeners.ts'
import { isContext, type LocalEvaluator } from './local/local-evaluator.ts'
import {
  createLocalState,
  finishReady,
  type LocalState,
  loadCached,
  offer,
  SAVE,
  save,
  settleReady,
  useServer,
} from './local/local-state.ts'
import { abandonReports, CLOSE_TIMEOUT_MS, closeReporter } from './local/usage-reporter.ts'
import type { LocalClient, LocalClientOptions, LocalStatus } from './local-client-interface.ts'
import { createLocalView } from './local-view.ts'
import { READINESS } from './readiness.ts'
import { createKeep } from './values/kept.ts'
import { addListener, callWatchers } from './values/listening.ts'
import { reportTo } from './values/reporting.ts'

const READY_TIMEOUT_MS = 5000
/** The name of the alarm that ends the attempt to report the last evaluations. */
const CLOSE = 'close'

/**
 * Creates a client that evaluates flags in the process. Throws a `TypeError` if `url` does not begin
 * with `http` or has a password, a query or a fragment, or if `sdkKey` is empty or has other
 * characters than letters, digits, `_` and `-`; and an `Error` in a page of a browser. Afterwards,
 * nothing throws or rejects.
 */
export function createLocalClient<Values>(
  options: LocalClientOptions<Values>,
): LocalClient<Values> {
  const state = createState(options)
  const { flags = { types: {} }, sources = ['server'], transport = 'auto' } = options
  const { platform, url } = state.options
  loadCached(state)
  if (sources.includes('server')) {
    state.connection = createConnection({
      url,
      platform,
      transport,
      alarms: state.alarms,
      subscription: toSubscription(state.sync),
      report: state.options.report,
      onCurrent() {
        useServer(state)
        callWatchers(state)
      },
      onFailure: (failure) => {
        // No other source can provide a flag set.
        if (failure === 'refused' && sources.length === 1) finishReady(state)
        callWatchers(state)
      },
    })
    // A socket sends no whole flag set.
    state.connection.needsRequest = state.sync.held === undefined
    openConnection(state.connection)
  }
  void read(state, sources)
  // The compiler cannot derive `Values` from the keys of a map.
  return methodsOf(state, flags) as unknown as LocalClient<Values>
}

function createState<Values>(options: LocalClientOptions<Values>): LocalState {
  const address = addressIn(options)
  if ('window' in globalThis) {
    throw new Error(
      '`createLocalClient` cannot be used in a page, because pages must not receive the rules of flags. Use `createFlagClient` of @ff/client.',
    )
  }
  const { flags, extensions, cache, sources, usage = true, onError } = options
  return createLocalState({
    ...address,
    platform: platformWith(options),
    types: new Map<string, FlagType<unknown>>(Object.entries(flags?.types ?? {})),
    extensions,
    cache,
    hasUsage: usage && (sources ?? ['server']).includes('server'),
    report: reportTo(onError),
  })
}

async function read(
  state: LocalState,
  sources: NonNullable<LocalClientOptions<unknown>['sources']>,
): Promise<void> {
  const { alarms, options, connection } = state
  await readSources({
    sources,
    alarms,
    random: options.platform.random,
    isCurrent: () => connection?.isCurrent === true,
    isClosed: () => state.isClosed,
    offer: (definition) => offer(state, definition, 'bootstrap'),
    report: options.report,
  })
  if (connection === undefined) settleReady(state)
}

function methodsOf(
  state: LocalState,
  flags: Pick<FlagTypes<Readonly<Record<string, unknown>>>, 'types'>,
): LocalClient<Readonly<Record<string, unknown>>> {
  const { evaluator, options } = state
  const subscribe = (key: unknown, listener?: FlagSetListener) =>
    addSubscription(state, key, listener)
  const ready = (wait?: { readonly timeoutMs?: number }) => whenReady(state, wait)
  const keep = createKeep()
  const status = () => keep(undefined, statusOf(state))
  const snapshot = (context: unknown, by = evaluator) => snapshotOf(state, context, by)
  const view = {
    evaluator,
    subscribe: (listener: FlagSetListener) => subscribe(listener),
    watch: (listener: () => void) => addListener(state.watchers, listener),
    status,
    ready,
    snapshot,
    report: options.report,
  }
  let closed: Promise<void> | undefined
  return {
    flags,
    value: (key, context, fallback) => evaluator.value(key, context, fallback),
    detail: (key, context, fallback) => evaluator.detail(key, context, fallback),
    all: (context) => evaluator.all(context),
    for: (context) => createLocalView(view, context),
    snapshot: (context) => snapshot(context),
    subscribe,
    watch: view.watch,
    ready,
    get status() {
      return status()
    },
    close() {
      closed ??= close(state)
      return closed
    },
  }
}

function statusOf({ evaluator, sync, connection, updatedAt }: LocalState): LocalStatus {
  const failure = connection?.failure
  return {
    source: evaluator.source,
    isOfContext: true,
    isCurrent: connection?.isCurrent === true,
    version: evaluator.flagSet?.version ?? 0,
    root: sync.held?.root.root,
    updatedAt,
    connection: connection ? stateOf(connection) : 'closed',
    failure: failure === 'invalidContext' ? 'unreachable' : failure,
  }
}

function snapshotOf(
  { clientViews, options }: LocalState,
  context: unknown,
  evaluator: LocalEvaluator,
): FlagSnapshot {
  const { flagSet } = evaluator
  if (flagSet === undefined || !isContext(context)) return { flags: {} }
  try {
    // The view of an earlier flag set is not reused, because it can have the same version after a restore.
    const view = clientViews.get(flagSet) ?? clientView(flagSet)
    clientViews.set(flagSet, view)
    const flags = evaluator.valuesOf(view, context) as FlagSnapshot['flags']
    return toSnapshot(flags, view.version, contextTextOf(context))
  } catch (error) {
    options.report(error)
    return { flags: {} }
  }
}

function addSubscription(state: LocalState, key: unknown, listener?: FlagSetListener): () => void {
  const { listeners, clock, isClosed } = state
  if (isClosed) return () => {}
  if (listeners.functions.size === 0) state.steppedAt = clock.now()
  const remove = addListener(listeners.functions, (flagKeys: readonly string[]) => {
    if (listener === undefined) (key as FlagSetListener)(flagKeys)
    else if (flagKeys.includes(key as string)) listener(flagKeys)
  })
  followSteps(state)
  return remove
}

function whenReady(
  { evaluator, alarms, pendingReady, isReady, isClosed }: LocalState,
  options: { readonly timeoutMs?: number } | undefined,
): Promise<Readiness> {
  return new Promise((resolve) => {
    const finish = () => {
      alarms.clear(finish)
      pendingReady.delete(finish)
      resolve(READINESS[evaluator.source])
    }
    if (isReady || isClosed) return finish()
    pendingReady.add(finish)
    alarms.set(finish, timeoutIn(options), finish)
  })
}

function timeoutIn(options: { readonly timeoutMs?: unknown } | undefined): number {
  try {
    const timeoutMs = options?.timeoutMs
    return typeof timeoutMs === 'number' && timeoutMs >= 0 ? timeoutMs : READY_TIMEOUT_MS
  } catch {
    return READY_TIMEOUT_MS
  }
}

function close(state: LocalState): Promise<void> {
  const { alarms, connection, reporter } = state
  state.isClosed = true
  if (connection) closeConnection(connection)
  if (alarms.has(SAVE)) save(state)
  for (const name of [SAVE, SOURCES, STEP]) alarms.clear(name)
  state.listeners.functions.clear()
  state.watchers.clear()
  settleReady(state)
  return new Promise((resolve) => {
    const finish = () => {
      if (reporter) abandonReports(reporter)
      alarms.clear(CLOSE)
      resolve()
    }
    alarms.set(CLOSE, CLOSE_TIMEOUT_MS, finish)
    void Promise.all([reporter && closeReporter(reporter), state.saving]).then(finish)
  })
}
