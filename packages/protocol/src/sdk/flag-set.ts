import type { FlagSetDefinition, JsonObject } from '@ff/core'
import type { DefinitionDelta } from '@ff/core/changes'
import { asJsonObject, asWholeNumber, ownProperty } from './json-object.ts'

/** The changes between two versions of a flag set. */
export interface FlagSetDiff extends Omit<DefinitionDelta, 'version'> {
  readonly from: number
  readonly to: number
  /** The root of the flag set after the changes. See `@ff/core/flag-set-root`. */
  readonly root: string
}

/** A whole flag set. */
export interface WholeFlagSet extends FlagSetDefinition {
  /** The root of the flag set. See `@ff/core/flag-set-root`. */
  readonly root: string
}

/** The response to a request for a flag set: the changes, or the whole set. */
export type FlagSetUpdate = FlagSetDiff | WholeFlagSet

/** Returns `true` if an update contains only the changes. */
export function isFlagSetDiff(update: FlagSetUpdate): update is FlagSetDiff {
  return Object.hasOwn(update, 'from')
}

/**
 * Returns the update in a parsed body, or `undefined` if it is not an update. Checks the outer
 * shape; the compiler of `@ff/core` checks the definitions.
 */
export function asFlagSetUpdate(body: unknown): FlagSetUpdate | undefined {
  const fields = asJsonObject(body)
  if (fields === undefined) return undefined
  const [flags, segments] = [ownProperty(fields, 'flags'), ownProperty(fields, 'segments')]
  if (typeof ownProperty(fields, 'root') !== 'string') return undefined
  if (!Array.isArray(flags) || !Array.isArray(segments)) return undefined
  if (!Object.hasOwn(fields, 'from')) {
    const isWhole = asWholeNumber(ownProperty(fields, 'version')) !== undefined
    return isWhole ? (body as WholeFlagSet) : undefined
  }
  const [from, to] = [ownProperty(fields, 'from'), ownProperty(fields, 'to')]
  if (asWholeNumber(from) === undefined || asWholeNumber(to) === undefined) return undefined
  if (!flags.every(isChange) || !segments.every(isChangedSegment)) return undefined
  return body as FlagSetDiff
}

/** The body of `POST /evaluator/flag-set/poll`. The response is a `FlagSetUpdate`. */
export interface FlagSetPollRequest {
  /** The version that the caller has; absent if it has none. */
  readonly since?: number
}

/** Returns the request in a parsed body, or `undefined` if `since` is not a whole number. */
export function asFlagSetPollRequest(body: unknown): FlagSetPollRequest | undefined {
  const fields = asJsonObject(body)
  if (fields === undefined) return undefined
  const since = ownProperty(fields, 'since') ?? undefined
  if (since === undefined) return {}
  const version = asWholeNumber(since)
  return version === undefined ? undefined : { since: version }
}

/** A message of the server to a client that receives a flag set. */
export interface FlagSetMessage {
  readonly type: 'flagSet'
  /** The newest version. */
  readonly version: number
  /**
   * The changes since the last message, or since the version in `init`. Absent if the client must
   * request the flag set with `GET /evaluator/flag-set?since=`, which is compressed.
   */
  readonly update?: FlagSetDiff
  /** `true` if the store no longer has the version that the client named. */
  readonly restored?: true
}

/** Returns the message in parsed JSON, or `undefined` if it is not a valid flag-set message. */
export function asFlagSetMessage(message: unknown): FlagSetMessage | undefined {
  const fields = asJsonObject(message)
  if (fields === undefined || ownProperty(fields, 'type') !== 'flagSet') return undefined
  const version = asWholeNumber(ownProperty(fields, 'version'))
  if (version === undefined) return undefined
  const restored = ownProperty(fields, 'restored') === true && ({ restored: true } as const)
  const valid: FlagSetMessage = { type: 'flagSet', version, ...restored }
  const update = ownProperty(fields, 'update')
  if (update === undefined) return valid
  const diff = asFlagSetUpdate(update)
  return diff !== undefined && isFlagSetDiff(diff) ? { ...valid, update: diff } : undefined
}

function isChange(change: unknown): change is JsonObject {
  const fields = asJsonObject(change)
  if (fields === undefined || typeof ownProperty(fields, 'id') !== 'string') return false
  const definition = ownProperty(fields, 'definition')
  return definition === null || asJsonObject(definition) !== undefined
}

function isChangedSegment(change: unknown): boolean {
  if (!isChange(change)) return false
  return isKeyChanges(change['included']) && isKeyChanges(change['excluded'])
}

function isKeyChanges(changes: unknown): boolean {
  const fields = asJsonObject(changes)
  return fields !== undefined && isKeys(fields['added']) && isKeys(fields['removed'])
}

function isKeys(keys: unknown): boolean {
  return Array.isArray(keys) && keys.every((key) => typeof key === 'string')
}
