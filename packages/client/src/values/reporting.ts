/**
 * Returns a function that passes errors to the option `onError` of a client, and ignores the errors
 * that `onError` throws.
 */
export function reportTo(
  onError: ((error: unknown) => void) | undefined,
): (error: unknown) => void {
  return (error) => {
    try {
      onError?.(error)
    } catch {
      // Nothing else can receive the error.
    }
  }
}

/**
 * Returns a function that passes an error to `report`, unless the last error had the same text. A
 * call without an error means that the cause of the last error is gone.
 */
export function reportNew(report: (error: unknown) => void): (error?: unknown) => void {
  let known = ''
  return (error) => {
    // Anything can be thrown, also an object that cannot be converted to text.
    const text = error instanceof Error ? error.message : typeof error
    if (error !== undefined && text !== known) report(error)
    known = text
  }
}
