import type { EvaluationContext } from './context.ts'
import type { Incremental } from './incremental.ts'
import type { JsonValue } from './json.ts'

/**
 * Returns JSON text without white space, with the names of every object sorted by UTF-16 unit
 * (RFC 8785). Members that are `undefined` are omitted.
 */
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

/**
 * The number of outer levels of nesting at which the work can be interrupted after each array
 * element.
 */
const CHUNK_DEPTH = 4

/**
 * Returns the same text as `canonicalJson`, and yields after each element of an array in the outer
 * `depth` levels.
 */
export function* canonicalJsonIncrementally(
  value: JsonValue,
  depth = CHUNK_DEPTH,
): Incremental<string> {
  if (depth === 0 || typeof value !== 'object' || value === null) return canonicalJson(value)
  const members: string[] = []
  if (Array.isArray(value)) {
    for (const element of value) {
      members.push(yield* canonicalJsonIncrementally(element, depth - 1))
      yield
    }
    return `[${members.join(',')}]`
  }
  const object = value as { readonly [name: string]: JsonValue | undefined }
  for (const name of Object.keys(object).sort()) {
    const member = object[name]
    if (member === undefined) continue
    members.push(`${JSON.stringify(name)}:${yield* canonicalJsonIncrementally(member, depth - 1)}`)
  }
  return `{${members.join(',')}}`
}
