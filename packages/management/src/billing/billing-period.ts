const DAY_MS = 24 * 60 * 60 * 1000

/** Returns the day of the month, in UTC, of a timestamp. */
export function dayOfMonth(timestamp: string): number {
  return new Date(timestamp).getUTCDate()
}

/**
 * The same time of day in the month after, in UTC: on the given day of that month, or on its last
 * when it is shorter. The day is a parameter so that the 31st comes back after February.
 */
export function monthAfter(timestamp: string, day: number): string {
  const next = new Date(timestamp)
  next.setUTCDate(1)
  next.setUTCMonth(next.getUTCMonth() + 1)
  const lastDay = new Date(Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1, 0)).getUTCDate()
  next.setUTCDate(Math.min(day, lastDay))
  return next.toISOString()
}

/** So many times 24 hours later. */
export function daysAfter(timestamp: string, days: number): string {
  return new Date(Date.parse(timestamp) + days * DAY_MS).toISOString()
}

/**
 * The month within a longer period, such as a year that is paid for, that contains a timestamp; at
 * most until that period ends. Of a month, all of it.
 */
export function monthOf(
  { periodStart: start, periodEnd }: { readonly periodStart: string; readonly periodEnd: string },
  now: string,
) {
  // Of a month that begins on the 31st, one of the two ends has that day.
  const periodDay = Math.max(dayOfMonth(start), dayOfMonth(periodEnd))
  let periodStart = start
  let next = monthAfter(start, periodDay)
  while (next <= now && next < periodEnd) {
    periodStart = next
    next = monthAfter(next, periodDay)
  }
  return { periodStart, periodDay, currentPeriodEnd: next < periodEnd ? next : periodEnd }
}
