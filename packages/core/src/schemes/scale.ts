import { BUCKETS } from '../rollouts/bucket.ts'

/**
 * The bucket of a place among `total` equal ones. Their borders, rounded alike, are where ranges
 * made of weights end, so that no place changes hands; there must not be more places than buckets.
 */
export function bucketOfPlace(place: number, total: number): number {
  return Math.round((place * BUCKETS) / total)
}

/** The bucket of a share of the whole, 0…1, when a share belongs to what ends above it. */
export function bucketBelow(share: number): number {
  return Math.min(Math.floor(share * BUCKETS), BUCKETS - 1)
}

/** The bucket of a share of the whole, 0…1, when a share still belongs to what ends exactly there. */
export function bucketUpTo(share: number): number {
  return Math.max(Math.ceil(share * BUCKETS) - 1, 0)
}

const DIGITS = 15

/** The first 15 digits of a hash in hex as a share of the largest such number, 0…1. */
export function hexShare(hash: string): number {
  // The largest is 16^15 - 1, and the nearest double to that is 16^15.
  return Number.parseInt(hash.slice(0, DIGITS), 16) / 16 ** DIGITS
}
