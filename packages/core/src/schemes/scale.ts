import { BUCKETS } from '../rollouts/bucket.ts'

/**
 * Returns the bucket of a place. A system with `total` places, numbered from 0, divides the
 * contexts into as many equal parts. Ranges that are derived from weights are rounded in the same
 * way, so that each place keeps its variation. `total` must not exceed the number of buckets.
 */
export function bucketOfPlace(place: number, total: number): number {
  return Math.round((place * BUCKETS) / total)
}

/**
 * Returns the bucket of `share`, a hash that is scaled to 0…1, for systems that exclude the upper
 * bound of a range.
 */
export function bucketBelow(share: number): number {
  return Math.min(Math.floor(share * BUCKETS), BUCKETS - 1)
}

/**
 * Returns the bucket of `share`, a hash that is scaled to 0…1, for systems that include the upper
 * bound of a range.
 */
export function bucketUpTo(share: number): number {
  return Math.max(Math.ceil(share * BUCKETS) - 1, 0)
}

const DIGITS = 15

/** Returns the first 15 hex digits of a hash, scaled to 0…1. */
export function hexShare(hash: string): number {
  // The double that is closest to the largest number, 16^15 - 1, is 16^15.
  return Number.parseInt(hash.slice(0, DIGITS), 16) / 16 ** DIGITS
}
