import type { EvaluationContext } from './context.ts'
import { hash128, hash128InParts, hash128Into } from './hash128.ts'
import type { JsonValue } from './json.ts'
import { valuesHash } from './values-hash.ts'

export { hash128, hash128InParts, hash128Into, valuesHash }

/** A stable text identity of a context: its JSON with every object's names in one fixed order. */
export function contextFingerprint(context: EvaluationContext): string {
  return canonicalJson(context)
}

/** The context's fingerprint in 128 bits, as 32 lower-case hex digits. */
export function contextHash(context: EvaluationContext): string {
  return hash128(canonicalJson(context))
}

/** JSON without white space, every object's names in one fixed order, as RFC 8785 has it. */
export function canonicalJson(value: JsonValue | EvaluationContext): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const object = value as { readonly [name: string]: JsonValue | undefined }
  const members: string[] = []
  for (const name of Object.keys(object).sort()) {
    const member = object[name]
    if (member !== undefined) members.push(`${JSON.stringify(name)}:${canonicalJson(member)}`)
  }
  return `{${members.join(',')}}`
}
