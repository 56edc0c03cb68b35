const DIGITS = 15

/** The first 15 digits of a hash in hex as a share of the largest such number, 0…1. */
export function hexShare(hash: string): number {
  // The largest is 16^15 - 1, and the nearest double to that is 16^15.
  return Number.parseInt(hash.slice(0, DIGITS), 16) / 16 ** DIGITS
}
