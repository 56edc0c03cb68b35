import type { FlagValues, JsonObject } from '@ff/core'
import { asJsonObject, ownProperty } from './json-object.ts'

/** What a client may send, as JSON text. */
export type ClientMessage = InitMessage | ContextMessage | PingMessage

/** The first message: SDK key and context. */
export interface InitMessage {
  readonly type: 'init'
  readonly sdkKey: string
  readonly context: JsonObject
}

/** From now on, evaluate for this context; answered by a full `flags` message. */
export interface ContextMessage {
  readonly type: 'context'
  readonly context: JsonObject
}

/** Answered by `pong`. */
export interface PingMessage {
  readonly type: 'ping'
}

/** What the server sends, as JSON text. */
export type ServerMessage = FlagsMessage | PongMessage | ErrorMessage

/** The values of flags, by key. */
export interface FlagsMessage {
  readonly type: 'flags'
  /** Every flag when `full`, else only those whose value changed. */
  readonly flags: FlagValues
  /** Of the flag set; it does not grow when only a gradual rollout stepped. */
  readonly version: number
  readonly full: boolean
  /** Keys of removed flags; absent if there are none. */
  readonly removed?: readonly string[]
}

/** The reply to a `PingMessage`. */
export interface PongMessage {
  readonly type: 'pong'
}

/** Why the server closes the socket; always the last message before it does. */
export interface ErrorMessage {
  readonly type: 'error'
  readonly error: string
  readonly statusCode: number
  /** After how many seconds to connect again, at the earliest; absent if waiting does not help. */
  readonly retryAfter?: number
}

/** Why the server closed a socket. */
export const CLOSE_CODES = {
  /** The server is stopping: connect again. */
  goingAway: 1001,
  /** Too slow to take updates, or the server is overloaded: connect again later. */
  tryAgainLater: 1013,
  /** A message that is not what the protocol allows at that point. */
  badMessage: 4400,
  /** The SDK key is unknown, expired or revoked. */
  keyRefused: 4401,
  /** No `init` came in time. */
  initTimeout: 4408,
  /** The key's rate limit is used up. */
  tooMany: 4429,
} as const

/** The message in a parsed text, or `undefined` when it is none that a client may send. */
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

/** The message in a parsed text, or `undefined` when it is none that this release knows. */
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
