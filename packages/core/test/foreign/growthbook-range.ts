import { BUCKETS } from '../../src/index.ts'

/** A part of the whole, 0…1, without its end. */
export type Range = readonly [from: number, to: number]

/** Each variation begins where its weight does and has the covered part of it. */
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

/** How many values a version's hash can have. */
export function placesOf(hashVersion: number): number | undefined {
  if (hashVersion === 1) return 1000
  return hashVersion === 2 ? 10_000 : undefined
}

/** The bucket of the first value of the hash that is not less than `share`. */
export function border(share: number, places: number): number {
  return firstBucket(places, (value) => value >= share)
}

/** The bucket of the first value of the hash that is greater than `share`. */
export function after(share: number, places: number): number {
  return firstBucket(places, (value) => value > share)
}

/** Compared as GrowthBook compares, so that no rounding moves anybody. */
function firstBucket(places: number, isPast: (value: number) => boolean): number {
  let place = 0
  while (place < places && !isPast(place / places)) place += 1
  return (place * BUCKETS) / places
}
