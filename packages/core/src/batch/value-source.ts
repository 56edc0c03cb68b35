import {
  type AttributeReference,
  findContextKey,
  type Parts,
  readAttribute,
  readBucketingKey,
} from '../model/attribute.ts'
import type { EvaluationContext } from '../model/context.ts'
import type { JsonValue } from '../model/json.ts'

/**
 * A value of contexts that rule rows depend on. Sources with the same name have the same value. A
 * source with a reference is an attribute or, if `isKey` is `true`, a bucketing key. A source with
 * a kind is the key of this kind.
 */
export interface ValueSource {
  readonly name: string
  readonly reference: AttributeReference | undefined
  readonly isKey: boolean
  readonly kind: string
}

/** Returns the source of an attribute or of a bucketing key. */
export function attributeSource(reference: AttributeReference, isKey = false): ValueSource {
  const name = `${isKey ? 'bucketing key' : 'attribute'} ${reference.name}`
  return { name, reference, isKey, kind: '' }
}

/** Returns the source of the key of a kind. */
export function contextKeySource(kind: string): ValueSource {
  return { name: `key of ${kind}`, reference: undefined, isKey: false, kind }
}

/** Reads the value of a source. */
export function readSource(
  { reference, isKey, kind }: ValueSource,
  context: EvaluationContext,
  parts: Parts | undefined,
): JsonValue | undefined {
  if (reference === undefined) return findContextKey(context, kind)
  return isKey
    ? readBucketingKey(context, reference, parts)
    : readAttribute(context, reference, parts)
}
