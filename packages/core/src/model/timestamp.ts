const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)t(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:z|([+-])(\d\d):(\d\d))$/i

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/**
 * Parses an RFC 3339 timestamp and returns epoch milliseconds, an integer that is negative before
 * 1970. Returns `undefined` for any other text. Digits after the milliseconds are ignored. `T` and
 * `Z` can be lower case. A leap second, `23:59:60` in UTC, is the first second of the next day, as
 * in Unix time.
 */
export function parseTimestamp(text: string): number | undefined {
  const match = RFC_3339.exec(text)
  if (match === null) return undefined
  const field = (index: number) => Number(match[index] ?? 0)
  const day = daysSinceEpoch(field(1), field(2), field(3))
  const [hour, minute, second] = [field(4), field(5), field(6)]
  const [offsetHour, offsetMinute] = [field(9), field(10)]
  if (day === undefined || hour > 23 || minute > 59 || second > 60) return undefined
  if (offsetHour > 23 || offsetMinute > 59) return undefined

  const offset = (match[8] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute)
  const minutes = hour * 60 + minute - offset
  const start = day * DAY_MS + minutes * MINUTE_MS + second * 1000
  if (second === 60 && start % DAY_MS !== 0) return undefined
  return start + Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'))
}

/**
 * Returns the number of days since 1970-01-01 in the proleptic Gregorian calendar, or `undefined`
 * if the date does not exist.
 */
function daysSinceEpoch(year: number, month: number, day: number): number | undefined {
  const start = startOfMonth(year, month)
  if (month < 1 || month > 12 || day < 1) return undefined
  return day > startOfMonth(year, month + 1) - start ? undefined : start + day - 1
}

/** Returns the number of days since 1970-01-01 of the first day of a month in 1…13. */
function startOfMonth(year: number, month: number): number {
  // Years start in March, so that a leap day is the last day of its year.
  const shifted = month > 2 ? year : year - 1
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5)
  const leapDays = Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400)
  return shifted * 365 + leapDays + dayOfYear - 719_468
}
