import type { FlagSnapshot } from '@ff/protocol/snapshot'
import type { ClientStatus, FlagClient, Readiness, Unsubscribe } from './client-interface.ts'
import type { FlagSetListener } from './local/listeners.ts'
import { isContext, type LocalEvaluator } from './local/local-evaluator.ts'
import type { ClientErrorCode, FlagDetail } from './values/flag-detail.ts'
import { createKeep, type Keep } from './values/kept.ts'
import { addListener, attempt, callWatchers, type Watchers } from './values/listening.ts'

/** The parts of a local client that its views need. */
export interface LocalViewOptions {
  readonly evaluator: LocalEvaluator
  readonly subscribe: (listener: FlagSetListener) => Unsubscribe
  readonly watch: (listener: () => void) => Unsubscribe
  readonly status: () => ClientStatus
  readonly ready: (options?: { readonly timeoutMs?: number }) => Promise<Readiness>
  readonly snapshot: (context: unknown, evaluator: LocalEvaluator) => FlagSnapshot
  readonly report: (error: unknown) => void
}

interface Subscribers {
  /** The value with which the listeners were called last. */
  value: unknown
  readonly listeners: Set<(value: unknown) => void>
}

interface LocalView extends LocalViewOptions {
  /** The last valid context; `undefined` if there was none. */
  context: unknown
  /** Computes the first context; `undefined` after it was called or the context was replaced. */
  compute: (() => unknown) | undefined
  isContextInvalid: boolean
  /** The evaluator of the frozen flag set; `undefined` if the view is not frozen. */
  frozen: LocalEvaluator | undefined
  isClosed: boolean
  readonly subscribers: Map<string, Subscribers>
  readonly watchers: Watchers
  /** Keeps the identity of the status and of details. */
  readonly keep: Keep
  /** Removes the listeners of this view from the local client; `undefined` if there are none. */
  unfollow: Unsubscribe | undefined
}

/** The error codes of the engine that clients also have. */
const CLIENT_CODES: readonly unknown[] = [
  'PROVIDER_NOT_READY',
  'FLAG_NOT_FOUND',
  'INVALID_CONTEXT',
] satisfies ClientErrorCode[]

/**
 * Creates a client with the values of one context, which a local client evaluates. A function that
 * returns the context is called once, when the first value is read.
 */
export function createLocalView(
  options: LocalViewOptions,
  context: unknown,
): FlagClient<Readonly<Record<string, unknown>>> {
  const view: LocalView = {
    ...options,
    context: undefined,
    compute: typeof context === 'function' ? (context as () => unknown) : undefined,
    isContextInvalid: false,
    frozen: undefined,
    isClosed: false,
    subscribers: new Map(),
    watchers: new Set(),
    keep: createKeep(),
    unfollow: undefined,
  }
  if (view.compute === undefined) setContext(view, context)
  return {
    value: (key, fallback) => valueIn(view, key, fallback),
    detail: (key, fallback) => view.keep(key, detailOf(view, key, fallback)),
    subscribe: (key, listener) => subscribe(view, key, listener),
    watch: (listener) => watch(view, listener),
    get status() {
      return view.keep(undefined, statusOf(view))
    },
    setContext: async (next) => setContext(view, next),
    reset: async (next) => reset(view, next),
    ready: (ready) => view.ready(ready),
    snapshot: () => view.snapshot(contextIn(view), evaluatorIn(view)),
    freeze() {
      view.frozen ??= view.evaluator.frozen()
    },
    unfreeze() {
      view.frozen = undefined
      callSubscribers(view)
    },
    connect: () => connect(view),
    close: () => close(view),
  }
}

function evaluatorIn({ frozen, evaluator }: LocalView): LocalEvaluator {
  return frozen ?? evaluator
}

/** Returns the context, which is computed if it has not been needed before. */
function contextIn(view: LocalView): unknown {
  const { compute, report } = view
  if (compute === undefined) return view.context
  // The function can read flags of this view itself.
  view.compute = undefined
  view.context = computedContext(compute, report)
  view.isContextInvalid ||= view.context === undefined
  return view.context
}

/** Returns the context that a function computes; `undefined`, after a report, if it is not valid. */
function computedContext(compute: () => unknown, report: (error: unknown) => void): unknown {
  try {
    const context = compute()
    // Without a handler, a rejection ends a process of Node.
    if (context instanceof Promise) context.catch(report)
    else if (isContext(context)) return context
    report(new TypeError('A context function must return a context, and no promise'))
  } catch (error) {
    report(error)
  }
  return undefined
}

function valueIn(view: LocalView, key: string, fallback?: unknown): unknown {
  return evaluatorIn(view).value(key, contextIn(view), fallback)
}

function detailOf(view: LocalView, key: string, fallback: unknown): FlagDetail<unknown> {
  const context = contextIn(view)
  const { isContextInvalid } = view
  const { value, source, version, errorCode } = evaluatorIn(view).detail(key, context, fallback)
  const detail = { value, source, version }
  if (!isContextInvalid && source !== 'fallback') return detail
  // A client receives no value of a flag that cannot be evaluated.
  const known = CLIENT_CODES.includes(errorCode) ? (errorCode as ClientErrorCode) : 'TYPE_MISMATCH'
  return { ...detail, reason: 'ERROR', errorCode: isContextInvalid ? 'INVALID_CONTEXT' : known }
}

function statusOf({ status, frozen, context, compute, isClosed }: LocalView): ClientStatus {
  const current = status()
  return {
    ...current,
    ...(frozen && { isCurrent: false, version: frozen.flagSet?.version ?? 0 }),
    ...(isClosed && { isCurrent: false, connection: 'closed' }),
    isOfContext: context !== undefined || compute !== undefined,
  }
}

function setContext(view: LocalView, context: unknown): void {
  if (view.isClosed) return
  view.isContextInvalid = !isContext(context)
  if (view.isContextInvalid) {
    callWatchers(view)
    return
  }
  view.compute = undefined
  view.context = context
  callSubscribers(view)
}

function reset(view: LocalView, context: unknown): void {
  if (view.isClosed) return
  view.frozen = undefined
  view.compute = undefined
  view.context = undefined
  setContext(view, context)
  if (view.isContextInvalid) callSubscribers(view)
}

function subscribe(view: LocalView, key: string, callback: (value: unknown) => void): Unsubscribe {
  const { subscribers } = view
  follow(view)
  const known = subscribers.get(key) ?? { value: valueIn(view, key), listeners: new Set() }
  subscribers.set(key, known)
  const remove = addListener(known.listeners, callback)
  return () => {
    remove()
    if (known.listeners.size > 0 || subscribers.get(key) !== known) return
    subscribers.delete(key)
    unfollowIfUnused(view)
  }
}

function watch(view: LocalView, callback: () => void): Unsubscribe {
  follow(view)
  const remove = addListener(view.watchers, callback)
  return () => {
    remove()
    unfollowIfUnused(view)
  }
}

/** Calls the listeners of the view after changes of the local client. */
function follow(view: LocalView): void {
  if (view.unfollow || view.isClosed) return
  const unsubscribe = view.subscribe((keys) => callSubscribers(view, keys))
  const unwatch = view.watch(() => callWatchers(view))
  view.unfollow = () => {
    unsubscribe()
    unwatch()
  }
}

/** Ends `follow`. */
function unfollow(view: LocalView): void {
  view.unfollow?.()
  view.unfollow = undefined
}

function hasListeners({ subscribers, watchers }: LocalView): boolean {
  return subscribers.size > 0 || watchers.size > 0
}

function unfollowIfUnused(view: LocalView): void {
  if (!hasListeners(view)) unfollow(view)
}

function connect(view: LocalView): void {
  if (!view.isClosed) return
  view.isClosed = false
  if (hasListeners(view)) follow(view)
  callSubscribers(view)
}

function close(view: LocalView): void {
  view.isClosed = true
  unfollow(view)
  callWatchers(view)
}

/** Calls the listeners of the flags in `keys`, or of all flags, whose values have changed. */
function callSubscribers(view: LocalView, keys?: readonly string[]): void {
  const { subscribers, frozen, isClosed } = view
  if (frozen || isClosed) return
  const changed: [Subscribers, unknown][] = []
  for (const key of keys ?? [...subscribers.keys()]) {
    const known = subscribers.get(key)
    if (known === undefined) continue
    const value = valueIn(view, key)
    if (!isSame(known.value, value)) changed.push([known, value])
    known.value = value
  }
  for (const [known, value] of changed) {
    for (const listener of [...known.listeners]) {
      // A listener can change the values again. The later change calls all listeners.
      if (known.value !== value) break
      attempt(view, () => listener(value))
    }
  }
  callWatchers(view)
}

function isSame(before: unknown, after: unknown): boolean {
  if (Object.is(before, after)) return true
  try {
    return JSON.stringify(before) === JSON.stringify(after)
  } catch {
    return false
  }
}
