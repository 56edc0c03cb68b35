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
