/**
 * Goes on at once with what is here, and later with what is only promised. Most requests find
 * everything here, and then wait for nothing, not even for their turn.
 */
export function whenHere<T, U>(
  value: T | Promise<T>,
  next: (value: T) => U | Promise<U>,
): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
