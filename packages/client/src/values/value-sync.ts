import type {
  FLAG_SET_VERSION_HEADER,
  RESTORED_HEADER,
  SDK_KEY_HEADER,
  SDK_PATHS,
} from '@ff/protocol/sdk'
import { isObject } from '@ff/protocol/snapshot'
import { isVersion } from '../json/json.ts'
import type { Receipt, Subscription } from '../transports/transport.ts'
import type { FlagChanges } from './flag-store.ts'

// The types ensure that these constants are equal to those of the protocol. Importing the values
// would add all paths and limits to the bundle of an application.
const EVALUATE_PATH: typeof SDK_PATHS.evaluate = '/evaluator/evaluate'
const POLL_PATH: typeof SDK_PATHS.poll = '/evaluator/poll'
const KEY_HEADER: typeof SDK_KEY_HEADER = 'x-api-key'
const VERSION_HEADER: typeof FLAG_SET_VERSION_HEADER = 'X-FF-Version'
const RESTORED: typeof RESTORED_HEADER = 'X-FF-Restored'

/** The end of an entity tag that matches no values. */
const NO_VALUES = '.0-00000000000000000000000000000000-00000000000000000000000000000000"'

/** Values from the server that the client has not applied yet. */
export type ValueUpdate = Pick<FlagChanges, 'flags' | 'isFull' | 'removed' | 'version'>

/** The values of one context at the server. */
export interface ValueSync {
  readonly sdkKey: string
  /** The JSON of the context. */
  contextText: string
  /** The number of the context. Each change of the context has another one. */
  id: number
  /** The context number of the last request. */
  sentId: number
  /** `true` if the server has answered the last request on the socket. */
  isAnswered: boolean
  /** The newest version that the client had, for any context; 0 if there was none. */
  version: number
  /** The entity tag of the newest values, if they belong to the current context. */
  etag?: string | undefined
  /** The last update that was received; absent if the last response was 304. */
  update?: ValueUpdate | undefined
}

/** Creates the state of a subscription to the values of a context. */
export function createValueSync(sdkKey: string, contextText: string): ValueSync {
  return { sdkKey, contextText, id: 1, sentId: 0, isAnswered: false, version: 0 }
}

/** Returns the subscription of a connection. */
export function toSubscription(sync: ValueSync): Subscription {
  return {
    isOutdated: () => sync.sentId !== sync.id,
    message: (isFirst) => messageOf(sync, isFirst),
    request: (isPoll) => requestOf(sync, isPoll),
    receive: (message) => receive(sync, message),
    respond: (response) => respond(sync, response),
  }
}

function messageOf(sync: ValueSync, isFirst: boolean): string {
  const { sdkKey, contextText, id, version } = sync
  sync.sentId = id
  sync.isAnswered = false
  const fields = isFirst
    ? { type: 'init', sdkKey, since: version || undefined }
    : { type: 'context' }
  return `${JSON.stringify({ ...fields, id }).slice(0, -1)},"context":${contextText}}`
}

function requestOf(sync: ValueSync, isPoll: boolean): ReturnType<Subscription['request']> {
  const { sdkKey, contextText, id, version, etag } = sync
  const since = isPoll && etag ? `,"since":${JSON.stringify(etag)}` : ''
  sync.sentId = id
  return {
    method: 'POST',
    path: isPoll ? POLL_PATH : EVALUATE_PATH,
    headers: {
      'content-type': 'application/json',
      [KEY_HEADER]: sdkKey,
      // Without a tag, the version prevents an answer from an instance that is behind.
      ...(!isPoll && { 'if-none-match': etag ?? `"${version}${NO_VALUES}` }),
    },
    body: `{"context":${contextText}${since}}`,
  }
}

function receive(
  sync: ValueSync,
  { type, flags, version, full, removed, id, restored }: Readonly<Record<string, unknown>>,
): Receipt {
  if (type !== 'flags') return 'ignored'
  const isFull = full === true
  const isAnswer = isFull && id === sync.sentId
  // Updates have no id. Until the answer arrives, they belong to the previous context.
  if (!isAnswer && (!sync.isAnswered || id !== undefined)) return 'ignored'
  if (sync.sentId !== sync.id) return 'outdated'
  const receipt = take(sync, { flags, version, isFull, removed }, restored)
  sync.isAnswered ||= receipt === 'current'
  return receipt
}

function respond(
  sync: ValueSync,
  { status, headers, body }: Parameters<Subscription['respond']>[0],
): Receipt {
  if (sync.sentId !== sync.id) return 'outdated'
  if (status === 304) {
    sync.update = undefined
    return sync.etag ? 'current' : 'invalid'
  }
  const version = Number(headers.get(VERSION_HEADER) ?? 'none')
  const receipt = take(sync, { flags: body, version, isFull: true }, headers.get(RESTORED))
  if (receipt === 'current') sync.etag = headers.get('etag') ?? undefined
  return receipt
}

/** Keeps an update, unless it is older than the values that the client has. */
function take(
  sync: ValueSync,
  update: { readonly [Name in keyof ValueUpdate]?: unknown },
  isRestored: unknown,
): Receipt {
  const { flags, version, removed = [] } = update
  if (!isObject(flags) || !isVersion(version) || !Array.isArray(removed)) return 'invalid'
  if (version < sync.version && !isRestored) return 'ignored'
  sync.version = version
  sync.etag = undefined
  sync.update = update as ValueUpdate
  return 'current'
}
