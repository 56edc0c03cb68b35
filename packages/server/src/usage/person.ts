import type { EvaluationContext, JsonValue } from '@ff/core'

/** The kind and the key of a context. */
export interface Person {
  /** `user`, `multi`, … ; empty for the empty context. */
  readonly kind: string
  /** That of the user if there are several kinds; empty if the context has none. */
  readonly key: string
}

/** Returns the kind and the key of a context. */
export function personOf(context: EvaluationContext): Person {
  const { kind = '' } = context
  return { kind, key: keyText(kind === 'multi' ? keyOf(context.user) : context.key) }
}

function keyOf(part: JsonValue | undefined): JsonValue | undefined {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return undefined
  return (part as { readonly key?: JsonValue }).key
}

/** A number and its decimal text are the same key, as for bucketing. */
function keyText(key: unknown): string {
  return typeof key === 'string' || typeof key === 'number' ? String(key) : ''
}
