/**
 * Applies a function to a value, or to the result of a promise. A value is handled synchronously:
 * most requests find everything in memory and do not wait for another turn of the event loop.
 */
export function mapMaybeAsync<T, U>(
  value: T | Promise<T>,
  next: (value: T) => U | Promise<U>,
): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
