import type { FlagValues, JsonObject } from '@ff/core'
import { asJsonObject, asWholeNumber, ownProperty } from './json-object.ts'

/** A message from a client, sent as JSON text. */
export type ClientMessage = InitMessage | FlagSetInitMessage | ContextMessage | PingMessage

/** The first message of a client that receives values: its SDK key and its context. */
export interface InitMessage {
  readonly type: 'init'
  readonly sdkKey: string
  readonly context: JsonObject
  /** The number of the request. The response contains it. */
  readonly id?: number
  /**
   * The version of the values that the client has. If the store no longer has this version, the
   * response says `restored`.
   */
  readonly since?: number
}

/** The first message of a client that receives the flag set and evaluates flags itself. */
export interface FlagSetInitMessage {
  readonly type: 'init'
  readonly sdkKey: string
  readonly flagSet: {
    /** The version that the client has; absent if it has none. */
    readonly since?: number
  }
}

/** A message that replaces the context. The server responds with a full `flags` message. */
export interface ContextMessage {
  readonly type: 'context'
  readonly context: JsonObject
  /** The number of the request. The response contains it. */
  readonly id?: number
}

/** A check of the connection. The server responds with `pong`. */
export interface PingMessage {
  readonly type: 'ping'
}

/** A message from the server, sent as JSON text. */
export type ServerMessage = FlagsMessage | PongMessage | ErrorMessage

/** The values of flags, by key. */
export interface FlagsMessage {
  readonly type: 'flags'
  /** All flags if `full` is `true`, otherwise only the flags with a changed value. */
  readonly flags: FlagValues
  /** The version of the flag set. A step of a gradual rollout does not change the version. */
  readonly version: number
  readonly full: boolean
  /** Keys of removed flags; absent if there are none. */
  readonly removed?: readonly string[]
  /** The `id` of the message that this message responds to. */
  readonly id?: number
  /**
   * `true` if the store no longer has the version that the client named, for example because a
   * backup was restored. The version is then lower, and the client accepts it.
   */
  readonly restored?: true
}

/** The response to a `PingMessage`. */
export interface PongMessage {
  readonly type: 'pong'
}

/** The last message before the server closes a socket because of an error. */
export interface ErrorMessage {
  readonly type: 'error'
  readonly error: string
  readonly statusCode: number
  /** Seconds to wait before the client reconnects; absent if reconnecting does not help. */
  readonly retryAfter?: number
}

/** The close codes of sockets. */
export const CLOSE_CODES = {
  /** The server is shutting down. The client can reconnect at once. */
  goingAway: 1001,
  /** The client reads too slowly, or the server is overloaded. The client can reconnect later. */
  tryAgainLater: 1013,
  /** The client sent a message that the protocol does not permit at that point. */
  badMessage: 4400,
  /** The SDK key is unknown, expired or revoked, or its kind does not permit the request. */
  keyRefused: 4401,
  /** The client did not send `init` within `INIT_WITHIN_MS`. */
  initTimeout: 4408,
  /** The rate limit of the SDK key is exceeded. */
  tooMany: 4429,
} as const

/** Returns the client message in parsed JSON, or `undefined` if it is invalid. */
export function asClientMessage(message: unknown): ClientMessage | undefined {
  const fields = asJsonObject(message)
  if (fields === undefined) return undefined
  switch (ownProperty(fields, 'type')) {
    case 'init':
      return asInitMessage(fields)
    case 'context': {
      const request = asContextRequest(fields)
      return request && { type: 'context', ...request }
    }
    case 'ping':
      return { type: 'ping' }
    default:
      return undefined
  }
}

function asInitMessage(fields: JsonObject): InitMessage | FlagSetInitMessage | undefined {
  const sdkKey = ownProperty(fields, 'sdkKey')
  if (typeof sdkKey !== 'string') return undefined
  const flagSet = ownProperty(fields, 'flagSet')
  const since = optional(fields, 'since')
  if (flagSet === undefined) {
    const request = asContextRequest(fields)
    return request && since && { type: 'init', sdkKey, ...request, ...since }
  }
  const known = optional(asJsonObject(flagSet), 'since')
  return known && { type: 'init', sdkKey, flagSet: known }
}

function asContextRequest(fields: JsonObject): Omit<ContextMessage, 'type'> | undefined {
  const context = asJsonObject(ownProperty(fields, 'context'))
  const id = optional(fields, 'id')
  return context && id && { context, ...id }
}

/**
 * Returns an object with the named number, or an empty object if the field is absent. Returns
 * `undefined` if the field is not a whole number.
 */
function optional<Name extends string>(
  fields: JsonObject | undefined,
  name: Name,
): { readonly [Key in Name]?: number } | undefined {
  if (fields === undefined) return undefined
  const value = ownProperty(fields, name)
  if (value === undefined) return {}
  const number = asWholeNumber(value)
  return number === undefined ? undefined : ({ [name]: number } as { [Key in Name]: number })
}

/** Returns the server message in parsed JSON, or `undefined` if it is invalid or unknown. */
export function asServerMessage(message: unknown): ServerMessage | undefined {
  const fields = asJsonObject(message)
  if (fields === undefined) return undefined
  switch (ownProperty(fields, 'type')) {
    case 'flags':
      return asFlagsMessage(fields)
    case 'pong':
      return { type: 'pong' }
    case 'error':
      return asErrorMessage(fields)
    default:
      return undefined
  }
}

function asFlagsMessage(fields: JsonObject): FlagsMessage | undefined {
  const flags = asJsonObject(ownProperty(fields, 'flags'))
  const version = asWholeNumber(ownProperty(fields, 'version'))
  const full = ownProperty(fields, 'full')
  const id = optional(fields, 'id')
  if (flags === undefined || typeof full !== 'boolean') return undefined
  if (version === undefined || id === undefined) return undefined
  const restored = ownProperty(fields, 'restored') === true && ({ restored: true } as const)
  const message: FlagsMessage = { type: 'flags', flags, version, full, ...id, ...restored }
  const removed = ownProperty(fields, 'removed')
  if (removed === undefined) return message
  if (!Array.isArray(removed) || !removed.every((key) => typeof key === 'string')) return undefined
  return { ...message, removed }
}

function asErrorMessage(fields: JsonObject): ErrorMessage | undefined {
  const error = ownProperty(fields, 'error')
  const statusCode = ownProperty(fields, 'statusCode')
  if (typeof error !== 'string' || typeof statusCode !== 'number') return undefined
  const message: ErrorMessage = { type: 'error', error, statusCode }
  const retryAfter = ownProperty(fields, 'retryAfter')
  if (retryAfter === undefined) return message
  if (typeof retryAfter !== 'number' || !(retryAfter >= 0)) return undefined
  return { ...message, retryAfter }
}
