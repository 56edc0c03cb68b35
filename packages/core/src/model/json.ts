export type JsonValue = null | boolean | number | string | JsonArray | JsonObject
export type JsonArray = readonly JsonValue[]
export interface JsonObject {
  readonly [name: string]: JsonValue
}

/** A plain object: not null, not an array, not an instance of a class (a `Date`, a `Map`, …). */
export function isJsonObject(value: unknown): value is JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  // Not `=== Object.prototype`: objects of another realm are plain too.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/**
 * Deep equality of two JSON values: the order of names does not matter, the order of elements
 * does, and only own properties count. Never overflows the stack, however deep the values are.
 */
export function jsonEquals(a: JsonValue, b: JsonValue): boolean {
  const left = [a]
  const right = [b]
  while (left.length > 0) {
    const x = left.pop()
    const y = right.pop()
    if (x === y) continue
    if (x === undefined || y === undefined || !pushChildren(x, y, left, right)) return false
  }
  return true
}

/** Queues what remains to be compared inside two values; false: they already differ. */
function pushChildren(a: JsonValue, b: JsonValue, left: JsonValue[], right: JsonValue[]): boolean {
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    for (const element of a) left.push(element)
    for (const element of b) right.push(element)
    return true
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  const names = Object.keys(a)
  if (names.length !== Object.keys(b).length) return false
  for (const name of names) {
    const x = a[name]
    const y = Object.hasOwn(b, name) ? b[name] : undefined
    if (x === undefined || y === undefined) return false
    left.push(x)
    right.push(y)
  }
  return true
}

/** Whether two definitions say the same; the order of names in them does not matter. */
export function isSameDefinition(left: unknown, right: unknown): boolean {
  return jsonEquals(left as JsonValue, right as JsonValue)
}

/** Returns a list of a definition. Throws a `TypeError` unless it is one, without gaps. */
export function elementsOf<Element>(list: readonly Element[]): readonly Element[] {
  if (Array.isArray(list) && !list.includes(undefined as Element)) return list
  throw new TypeError('A list is missing')
}
