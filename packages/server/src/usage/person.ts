import type { EvaluationContext, JsonValue } from '@ff/core'

/** By what a context is found again. */
export interface Person {
  /** `user`, `multi`, … ; empty for the empty context. */
  readonly kind: string
  /** The user's, of several kinds; empty when the context names nobody. */
  readonly key: string
}

/** Whom a context is about. */
export function personOf(context: EvaluationContext): Person {
  const { kind = '' } = context
  return { kind, key: keyText(kind === 'multi' ? keyOf(context.user) : context.key) }
}

function keyOf(part: JsonValue | undefined): JsonValue | undefined {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return undefined
  return (part as { readonly key?: JsonValue }).key
}

/** A number and its decimal text are the same key, as they are when they are placed in a bucket. */
function keyText(key: unknown): string {
  return typeof key === 'string' || typeof key === 'number' ? String(key) : ''
}
