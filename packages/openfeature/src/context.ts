import type { FlagClient } from '@ff/client'
import type { EvaluationContext } from '@openfeature/core'

/** A context of a client. */
export type ClientContext = Parameters<FlagClient<unknown>['setContext']>[0]

type Attributes = Readonly<Record<string, unknown>>

/**
 * Converts a context of OpenFeature. A context without a `kind` is a user whose key is
 * `targetingKey`. In a context with a `kind`, and in each part of a `multi` context, `targetingKey`
 * is the key if there is no `key`. Does not check the result. Never throws.
 */
export function toContext(context: EvaluationContext): ClientContext {
  let converted: unknown
  try {
    converted = convert(context)
  } catch {
    // A getter of the application has failed. Clients refuse `undefined` as invalid.
  }
  return converted as ClientContext
}

function convert(context: Attributes): Attributes {
  const { kind } = context
  if (kind === 'multi') return convertMulti(context)
  if (kind !== undefined) return withKey(context)
  const { targetingKey, ...attributes } = context
  if (Object.keys(context).length === 0) return attributes
  return { ...attributes, kind: 'user', ...(targetingKey !== undefined && { key: targetingKey }) }
}

function convertMulti({ targetingKey: _, ...kinds }: Attributes): Attributes {
  const parts = Object.entries(kinds).map(([kind, part]) => {
    return [kind, isAttributes(part) ? withKey(part) : part] as const
  })
  return Object.fromEntries(parts)
}

function withKey({ targetingKey, ...attributes }: Attributes): Attributes {
  const hasKey = targetingKey === undefined || 'key' in attributes
  return hasKey ? attributes : { ...attributes, key: targetingKey }
}

function isAttributes(value: unknown): value is Attributes {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
