import { BUCKETS } from '../../src/index.ts'

/** A part of 0…1, from `from` (inclusive) to `to` (exclusive). */
export type Range = readonly [from: number, to: number]

/** Returns a range for each variation. It covers the first part of the variation's weight. */
export function rangesOf(
  count: number,
  coverage = 1,
  weights?: readonly number[],
): readonly Range[] {
  let start = 0
  return Array.from({ length: count }, (_, index) => {
    const weight = weights?.[index] ?? 1 / count
    const from = start
    start += weight
    return [from, from + coverage * weight] as const
  })
}

/** Returns the number of values of a hash version, or `undefined` if the version is unknown. */
export function placesOf(hashVersion: number): number | undefined {
  if (hashVersion === 1) return 1000
  return hashVersion === 2 ? 10_000 : undefined
}

/** Returns the bucket of the first hash value that is not less than `share`. */
export function border(share: number, places: number): number {
  return firstBucket(places, (value) => value >= share)
}

/** Returns the bucket of the first hash value that is greater than `share`. */
export function after(share: number, places: number): number {
  return firstBucket(places, (value) => value > share)
}

/** Compares like GrowthBook, so that rounding moves no context. */
function firstBucket(places: number, isPast: (value: number) => boolean): number {
  let place = 0
  while (place < places && !isPast(place / places)) place += 1
  return (place * BUCKETS) / places
}
