import type { FlagValues, JsonObject } from '@ff/core'
import { asJsonObject, ownProperty } from './json-object.ts'

/** A message from a client, sent as JSON text. */
export type ClientMessage = InitMessage | ContextMessage | PingMessage

/** The first message of a client, with its SDK key and its context. */
export interface InitMessage {
  readonly type: 'init'
  readonly sdkKey: string
  readonly context: JsonObject
}

/** A message that replaces the context. The server responds with a full `flags` message. */
export interface ContextMessage {
  readonly type: 'context'
  readonly context: JsonObject
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
  /** The SDK key is unknown, expired or revoked. */
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
  const context = asJsonObject(ownProperty(fields, 'context'))
  const sdkKey = ownProperty(fields, 'sdkKey')
  switch (ownProperty(fields, 'type')) {
    case 'init':
      if (typeof sdkKey !== 'string' || context === undefined) return undefined
      return { type: 'init', sdkKey, context }
    case 'context':
      return context === undefined ? undefined : { type: 'context', context }
    case 'ping':
      return { type: 'ping' }
    default:
      return undefined
  }
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
  const version = ownProperty(fields, 'version')
  const full = ownProperty(fields, 'full')
  if (flags === undefined || typeof full !== 'boolean') return undefined
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 0) return undefined
  const message: FlagsMessage = { type: 'flags', flags, version, full }
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
