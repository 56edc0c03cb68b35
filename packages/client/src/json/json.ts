/** Returns `true` for a version of a flag set: an integer from 0. */
export function isVersion(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Returns the value of a JSON text; `undefined` if the text is not JSON. */
export function jsonIn(text: unknown): unknown {
  try {
    // Other values than texts are converted, and are usually not JSON.
    return JSON.parse(text as string)
  } catch {
    return undefined
  }
}
