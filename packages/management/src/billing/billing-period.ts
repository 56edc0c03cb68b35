const DAY_MS = 24 * 60 * 60 * 1000

/** Returns the day of the month, in UTC, of a timestamp. */
export function dayOfMonth(timestamp: string): number {
  return new Date(timestamp).getUTCDate()
}

/**
 * Returns the same time of day in the next month, in UTC: on `day` of that month, or on its last
 * day if the month is shorter. `day` is a parameter because the day of `timestamp` can be earlier:
 * a period that begins on the 31st ends on the 28th in February, and the next period ends on the
 * 31st again.
 */
export function monthAfter(timestamp: string, day: number): string {
  const next = new Date(timestamp)
  next.setUTCDate(1)
  next.setUTCMonth(next.getUTCMonth() + 1)
  const lastDay = new Date(Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1, 0)).getUTCDate()
  next.setUTCDate(Math.min(day, lastDay))
  return next.toISOString()
}

/** Returns the timestamp that is `days` times 24 hours later. */
export function daysAfter(timestamp: string, days: number): string {
  return new Date(Date.parse(timestamp) + days * DAY_MS).toISOString()
}

/**
 * Returns the month within a longer period, such as a paid year, that contains `now`. If `now` is
 * outside of the period, returns its first or last month. The last month ends with the period.
 */
export function monthOf(
  { periodStart: start, periodEnd }: { readonly periodStart: string; readonly periodEnd: string },
  now: string,
) {
  // A short month can move one of the two ends to an earlier day, but not both.
  const periodDay = Math.max(dayOfMonth(start), dayOfMonth(periodEnd))
  let periodStart = start
  let next = monthAfter(start, periodDay)
  while (next <= now && next < periodEnd) {
    periodStart = next
    next = monthAfter(next, periodDay)
  }
  return { periodStart, periodDay, currentPeriodEnd: next < periodEnd ? next : periodEnd }
}
