import { contextTextOf } from '@ff/protocol/snapshot'
import type { ClientStatus, FlagClient, FlagClientOptions, Readiness } from './client-interface.ts'
import {
  type ClientState,
  createClientState,
  hasValues,
  noteFailure,
  SAVE,
  saveAnswer,
  settle,
  useAnswer,
  useCache,
} from './client-state.ts'
import { addressIn } from './connection/address.ts'
import { closeConnection, openConnection, refresh, stateOf } from './connection/connection.ts'
import { type Connection, createConnection } from './connection/connection-state.ts'
import { READINESS } from './readiness.ts'
import { readingMethods } from './reading-methods.ts'
import { noValues, setState } from './values/flag-store.ts'
import { callWatchers } from './values/listening.ts'
import { toSubscription } from './values/value-sync.ts'

interface ConnectedState extends ClientState {
  readonly connection: Connection
}

const READY_TIMEOUT_MS = 5000

/**
 * Creates a client, which connects immediately unless `connect` is `false`. Throws a `TypeError` if
 * `url` does not begin with `http` or has a password, a query or a fragment, or if `sdkKey` is empty
 * or has other characters than letters, digits, `_` and `-`. Afterwards, nothing throws or rejects.
 */
export function createFlagClient<Values>(options: FlagClientOptions<Values>): FlagClient<Values> {
  const address = addressIn(options)
  const { connect = true, transport = 'auto' } = options
  const state = createClientState(options, address)
  const connection = createConnection({
    ...state,
    url: address.url,
    subscription: toSubscription(state.sync),
    transport,
    isEmpty: () => !hasValues(state),
    report: state.store.report,
    onCurrent: () => useAnswer(state),
    onFailure: (failure) => noteFailure(state, failure),
  })
  if (connect) openConnection(connection)
  const connected = { ...state, connection }
  const client = {
    ...readingMethods(state.store),
    get status() {
      return statusOf(connected)
    },
    setContext: (context: unknown) => changeContext(connected, context),
    reset: (context: unknown) => changeContext(connected, context, true),
    ready: (ready?: { readonly timeoutMs?: number }) => whenReady(connected, ready?.timeoutMs),
    connect: () => openConnection(connection),
    close: () => close(connected),
  }
  // The compiler cannot derive `Values` from the keys of a map.
  return client as unknown as FlagClient<Values>
}

function statusOf({ store, sync, connection }: ConnectedState): ClientStatus {
  const { source, version, updatedAt, contextText } = store.shown
  return store.keep(undefined, {
    source,
    isOfContext: contextText === sync.contextText,
    isCurrent: connection.isCurrent && store.shown === store.current,
    version,
    updatedAt,
    connection: stateOf(connection),
    failure: connection.failure,
  })
}

async function changeContext(
  state: ConnectedState,
  context: unknown,
  isReset = false,
): Promise<void> {
  const { store, sync, pending, connection } = state
  const text = contextTextOf(context)
  if (connection.paused === 'closed') return
  store.invalidContext = text ? undefined : 'client'
  const isUnchanged = !text || (text === sync.contextText && connection.isCurrent)
  if (isUnchanged && !isReset) return callWatchers(store)
  settle(state)
  sync.contextText = text ?? '{}'
  sync.id += 1
  sync.etag = undefined
  const settled = new Promise<void>((resolve) => {
    if (refresh(connection)) pending.add(resolve)
    else resolve()
  })
  if (isReset) {
    store.isFrozen = false
    setState(store, noValues(sync.contextText))
  }
  useCache(state)
  callWatchers(store)
  await settled
}

function whenReady(
  { store, sync, alarms, pending, connection }: ConnectedState,
  timeoutMs: unknown = READY_TIMEOUT_MS,
): Promise<Readiness> {
  return new Promise((resolve) => {
    const finish = () => {
      alarms.clear(check)
      pending.delete(check)
      resolve(READINESS[store.current.source])
    }
    const check = () => {
      const { source, contextText } = store.current
      const isLive = source === 'server' && contextText === sync.contextText
      if (isLive || connection.paused === 'closed' || connection.failure === 'refused') finish()
      else pending.add(check)
    }
    alarms.set(check, Number(timeoutMs), finish)
    check()
  })
}

function close(state: ConnectedState): void {
  closeConnection(state.connection)
  if (state.alarms.has(SAVE)) saveAnswer(state)
  state.alarms.clear(SAVE)
  settle(state)
}
