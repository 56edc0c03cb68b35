import type { JsonValue } from '@ff/core'
import { containsInexact } from '@ff/core/authoring'

/**
 * Returns the references of the attributes of a context whose values are or contain integers of 2^53
 * or more in magnitude.
 */
export function inexactAttributes(context: JsonValue): readonly string[] {
  if (!containsInexact(context)) return []
  const isMulti = membersOf(context).some(([name, value]) => name === 'kind' && value === 'multi')
  const references = membersOf(context).flatMap(([name, value]) => {
    if (!isMulti) return [{ name, value }]
    return membersOf(value).map(([part, each]) => ({ name: `${name}.${part}`, value: each }))
  })
  return references.filter(({ value }) => containsInexact(value)).map(({ name }) => name)
}

function membersOf(value: JsonValue): readonly (readonly [string, JsonValue])[] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}
