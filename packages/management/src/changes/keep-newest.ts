/** Adds an entry as the newest one, and removes the oldest entries above a limit. */
export function keepNewest<V>(
  cache: Map<string, V>,
  [key, value]: readonly [string, V],
  limit: number,
): void {
  cache.delete(key)
  cache.set(key, value)
  for (const oldest of cache.keys()) {
    if (cache.size <= limit) break
    cache.delete(oldest)
  }
}
