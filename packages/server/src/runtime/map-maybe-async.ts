/**
 * Applies a function to a value, or to the result of a promise. A value is processed synchronously,
 * because most requests find everything in memory and need not wait for another turn of the event
 * loop.
 */
export function mapMaybeAsync<T, U>(
  value: T | Promise<T>,
  next: (value: T) => U | Promise<U>,
): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
