import type { JsonObject } from '@ff/core'
import { asJsonObject, ownProperty } from './json-object.ts'

/** The paths of OpenFeature's remote evaluation protocol (OFREP). */
export const OFREP_PATHS = {
  /** Evaluates all flags. With `/` and a flag key behind it, evaluates one flag. */
  flags: '/ofrep/v1/evaluate/flags',
  /** The stream of change events. The protocol leaves this path to the server. */
  events: '/ofrep/v1/events',
} as const

/** The query parameter with the position of the event that has caused the request. */
export const OFREP_POSITION_PARAMETER = 'flagConfigEtag'

/** The query parameter of the event stream with its token. */
export const OFREP_TOKEN_PARAMETER = 'token'

/**
 * Converts the context of an OpenFeature client. A context without a `kind` is a user whose key is
 * `targetingKey`. A context with a `kind` is a context of this server, in which `targetingKey` is
 * the key if there is no `key`; the same applies to each entity of a `multi` context.
 */
export function fromOpenFeatureContext(context: JsonObject): JsonObject {
  const kind = ownProperty(context, 'kind')
  if (kind === 'multi') return fromMultiContext(context)
  if (kind !== undefined) return withKey(context)
  if (Object.keys(context).length === 0) return context
  const { targetingKey, ...attributes } = context
  const key = targetingKey === undefined ? {} : { key: targetingKey }
  return { ...attributes, kind: 'user', ...key }
}

function fromMultiContext({ targetingKey: _, ...kinds }: JsonObject): JsonObject {
  const members = Object.entries(kinds).map(([kind, member]) => {
    const entity = asJsonObject(member)
    return [kind, entity === undefined ? member : withKey(entity)] as const
  })
  return Object.fromEntries(members)
}

function withKey({ targetingKey, ...attributes }: JsonObject): JsonObject {
  return targetingKey === undefined || Object.hasOwn(attributes, 'key')
    ? attributes
    : { ...attributes, key: targetingKey }
}
