/**
 * Returns the JSON of a context with sorted properties, so that equal contexts have equal texts.
 * Returns `undefined` if the value cannot be a context. The server checks the rest.
 */
export function contextTextOf(context: unknown): string | undefined {
  try {
    const text = JSON.stringify(context, (_, value) => (isObject(value) ? sorted(value) : value))
    return text === '{}' || typeof JSON.parse(text).kind === 'string' ? text : undefined
  } catch {
    return undefined
  }
}

function sorted(object: Readonly<Record<string, unknown>>): object {
  // `fromEntries` defines properties, so that `__proto__` is an ordinary name.
  const names = Object.keys(object).sort()
  return Object.fromEntries(names.map((name) => [name, object[name]]))
}

/** Returns `true` for an object that is not an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
