import { valuesHash } from './batch/values-hash.ts'
import { hash128, hash128Incrementally, hash128Into } from './hashing/hash128.ts'
import { canonicalJson, canonicalJsonIncrementally } from './model/canonical-json.ts'
import type { EvaluationContext } from './model/context.ts'

export {
  canonicalJson,
  canonicalJsonIncrementally,
  hash128,
  hash128Incrementally,
  hash128Into,
  valuesHash,
}

/** Returns the canonical JSON of a context. Equal contexts have equal fingerprints. */
export function contextFingerprint(context: EvaluationContext): string {
  return canonicalJson(context)
}

/** Returns the 128-bit hash of a context's fingerprint, as 32 lower-case hex digits. */
export function contextHash(context: EvaluationContext): string {
  return hash128(canonicalJson(context))
}
