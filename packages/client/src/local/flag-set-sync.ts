import type { Extensions } from '@ff/core'
import {
  asFlagSetMessage,
  asFlagSetUpdate,
  type FlagSetUpdate,
  RESTORED_HEADER,
  SDK_KEY_HEADER,
  SDK_PATHS,
} from '@ff/protocol/sdk'
import type { Receipt, Subscription, SubscriptionResponse } from '../transports/transport.ts'
import { type HeldFlagSet, heldAfter, type Refusal } from './held-flag-set.ts'

/** The flag set of an environment, as the state of a subscription. */
export interface FlagSetSync {
  readonly sdkKey: string
  readonly extensions: Extensions | undefined
  /** The flag set that the client has; `undefined` if it has none. */
  held: HeldFlagSet | undefined
  /** `true` if the next update must be the whole flag set. */
  needsWhole: boolean
  /** Called with the reason when an update is not used. */
  readonly onRefusal: (refusal: Refusal) => void
}

/** Returns the subscription of a connection. */
export function toSubscription(sync: FlagSetSync): Subscription {
  return {
    isOutdated: () => false,
    message: (isFirst) => {
      const init = { type: 'init', sdkKey: sync.sdkKey, flagSet: sinceOf(sync) }
      return isFirst ? JSON.stringify(init) : ''
    },
    request: (isPoll) => requestOf(sync, isPoll),
    receive: (message) => receive(sync, message),
    respond: (response) => respond(sync, response),
  }
}

function sinceOf({ held, needsWhole }: FlagSetSync): { readonly since?: number } {
  return held === undefined || needsWhole ? {} : { since: held.flagSet.version }
}

function requestOf(sync: FlagSetSync, isPoll: boolean): ReturnType<Subscription['request']> {
  const headers = { [SDK_KEY_HEADER]: sync.sdkKey }
  const state = sinceOf(sync)
  if (isPoll) {
    return { method: 'POST', path: SDK_PATHS.flagSetPoll, headers, body: JSON.stringify(state) }
  }
  const query = state.since === undefined ? '' : `?since=${state.since}`
  return { method: 'GET', path: SDK_PATHS.flagSet + query, headers }
}

function receive(sync: FlagSetSync, message: Readonly<Record<string, unknown>>): Receipt {
  if (message?.['type'] !== 'flagSet') return 'ignored'
  const known = asFlagSetMessage(message)
  if (known === undefined) return 'invalid'
  const { version, update, restored } = known
  if (update !== undefined) return take(sync, update, restored === true)
  const isCurrent = version === sync.held?.flagSet.version && !restored && !sync.needsWhole
  return isCurrent ? 'current' : 'outdated'
}

function respond(sync: FlagSetSync, { headers, body }: SubscriptionResponse): Receipt {
  const update = asFlagSetUpdate(body)
  return update === undefined
    ? 'invalid'
    : take(sync, update, headers.get(RESTORED_HEADER) === 'true')
}

/**
 * Uses an update. After a faulty update, the whole flag set is requested. After an older one, the
 * next request names the version again, so that the server reads its store.
 */
function take(sync: FlagSetSync, update: FlagSetUpdate, isRestored: boolean): Receipt {
  const { extensions } = sync
  const after = heldAfter(sync.held, update, { extensions, isRestored })
  const isRefused = typeof after === 'string'
  sync.needsWhole = isRefused && after !== 'older'
  if (isRefused) {
    sync.onRefusal(after)
    return 'invalid'
  }
  sync.held = after
  return 'current'
}
