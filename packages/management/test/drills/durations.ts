/** The result of some work and its duration in milliseconds. */
export interface Timed<T> {
  readonly result: T
  readonly ms: number
}

/** Measures the duration of some work. */
export async function timed<T>(work: () => Promise<T>): Promise<Timed<T>> {
  const startedAt = performance.now()
  const result = await work()
  return { result, ms: performance.now() - startedAt }
}

/** Returns the median and the longest of some durations for a report. */
export function spreadOf(durations: readonly number[]): string {
  const longest = Math.max(...durations)
  return `${Math.round(medianOf(durations))} ms (median), ${Math.round(longest)} ms (longest)`
}

/** Returns the median of some durations. */
export function medianOf(durations: readonly number[]): number {
  return percentileOf(durations, 50)
}

/** Returns a percentile of some durations. */
export function percentileOf(durations: readonly number[], percentile: number): number {
  const place = Math.floor((durations.length * percentile) / 100)
  return durations.toSorted((a, b) => a - b)[place] ?? 0
}
