/** Any JSON value. */
export type JsonValue = null | boolean | number | string | JsonArray | JsonObject
/** An array of JSON values. */
export type JsonArray = readonly JsonValue[]
/** An object of JSON values. */
export interface JsonObject {
  readonly [name: string]: JsonValue
}

/** Returns `true` for a plain object. Arrays and instances of classes are not plain objects. */
export function isJsonObject(value: unknown): value is JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  // Not `=== Object.prototype`: objects of another realm are plain too.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/**
 * Returns `true` if a value is an integer of 2^53 or more in magnitude. Such a number can be the
 * rounded form of another integer.
 */
export function isInexact(value: JsonValue): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value)
}

/** Returns `true` if a number is finite and, if it is an integer, less than 2^53 in magnitude. */
export function isExactNumber(number: number): boolean {
  return Number.isFinite(number) && !isInexact(number)
}

/**
 * Returns `true` if a value is or contains an inexact number. Accepts deeply nested values, and
 * objects that contain themselves.
 */
export function containsInexact(value: JsonValue): boolean {
  // The loop visits the values that are added meanwhile, each of them once.
  const values = new Set([value])
  for (const each of values) {
    if (isInexact(each)) return true
    if (Array.isArray(each)) for (const element of each) values.add(element)
    else if (isJsonObject(each)) for (const member of Object.values(each)) values.add(member)
  }
  return false
}

/**
 * Returns `true` if two JSON values are deeply equal. The order of properties does not matter, and
 * only own properties are compared. Does not overflow the stack for deeply nested values.
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

/** Adds the children of two values to the stacks. Returns `false` if the values already differ. */
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

/**
 * Returns `true` if two definitions are deeply equal. The order of their fields does not matter.
 */
export function isSameDefinition(left: unknown, right: unknown): boolean {
  return jsonEquals(left as JsonValue, right as JsonValue)
}

/** Returns `list`. Throws a `TypeError` if it is not an array or contains `undefined`. */
export function elementsOf<Element>(list: readonly Element[]): readonly Element[] {
  if (Array.isArray(list) && !list.includes(undefined as Element)) return list
  throw new TypeError('An array is missing or contains `undefined`')
}
