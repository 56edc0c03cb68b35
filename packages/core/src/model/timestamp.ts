const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/**
 * Parses an RFC 3339 timestamp and returns epoch milliseconds, an integer that is negative before
 * 1970. Returns `undefined` for any other text. Digits after the milliseconds are ignored. `T` and
 * `Z` can be lower case. A leap second, `23:59:60` in UTC, is the first second of the next day, as
 * in Unix time.
 */
export function parseTimestamp(text: string): number | undefined {
  const isDivided =
    text.charCodeAt(4) === DASH &&
    text.charCodeAt(7) === DASH &&
    (text.charCodeAt(10) | LOWER_CASE) === LETTER_T &&
    text.charCodeAt(13) === COLON &&
    text.charCodeAt(16) === COLON
  const day = daysSinceEpoch(digitsAt(text, 0, 4), digitsAt(text, 5, 2), digitsAt(text, 8, 2))
  const hour = digitsAt(text, 11, 2)
  const minute = digitsAt(text, 14, 2)
  const second = digitsAt(text, 17, 2)
  const end = endOfFraction(text)
  const offset = offsetAt(text, end)
  // A comparison with NaN is false.
  const isTime = hour <= 23 && minute <= 59 && second <= 60
  if (!isDivided || day === undefined || !isTime || offset === undefined) return undefined
  const start = day * DAY_MS + (hour * 60 + minute - offset) * MINUTE_MS + second * 1000
  if (second === 60 && start % DAY_MS !== 0) return undefined
  return start + millisecondsOf(text, end)
}

const DASH = 0x2d
const COLON = 0x3a
const DOT = 0x2e
const LETTER_T = 0x74
const LETTER_Z = 0x7a
/** The bit that distinguishes lower-case from upper-case letters. */
const LOWER_CASE = 0x20
/** The index after the seconds. */
const SECONDS_END = 19

/** Returns the value of a digit, or a number that is not in 0…9. */
function digitAt(text: string, at: number): number {
  return text.charCodeAt(at) - 0x30
}

function isDigitAt(text: string, at: number): boolean {
  const digit = digitAt(text, at)
  return digit >= 0 && digit <= 9
}

/** Returns the value of `count` digits, or `NaN` if there are not as many. */
function digitsAt(text: string, start: number, count: number): number {
  let number = 0
  for (let at = start; at < start + count; at += 1) {
    if (!isDigitAt(text, at)) return Number.NaN
    number = 10 * number + digitAt(text, at)
  }
  return number
}

/** Returns the index after the digits of the fraction, or after the seconds if there are none. */
function endOfFraction(text: string): number {
  if (text.charCodeAt(SECONDS_END) !== DOT) return SECONDS_END
  let end = SECONDS_END + 1
  while (isDigitAt(text, end)) end += 1
  return end === SECONDS_END + 1 ? SECONDS_END : end
}

function millisecondsOf(text: string, end: number): number {
  let milliseconds = 0
  for (let at = SECONDS_END + 1; at <= SECONDS_END + 3; at += 1) {
    milliseconds = 10 * milliseconds + (at < end ? digitAt(text, at) : 0)
  }
  return milliseconds
}

/**
 * Returns the minutes of the offset from UTC that starts at an index and ends the text. `undefined`
 * if there is none.
 */
function offsetAt(text: string, start: number): number | undefined {
  if ((text.charCodeAt(start) | LOWER_CASE) === LETTER_Z) {
    return text.length === start + 1 ? 0 : undefined
  }
  const sign = text.charAt(start)
  const hour = digitsAt(text, start + 1, 2)
  const minute = digitsAt(text, start + 4, 2)
  const isOffset = (sign === '+' || sign === '-') && text.charCodeAt(start + 3) === COLON
  if (!isOffset || text.length !== start + 6 || !(hour <= 23 && minute <= 59)) return undefined
  return (sign === '-' ? -1 : 1) * (hour * 60 + minute)
}

/**
 * Returns the number of days since 1970-01-01 in the proleptic Gregorian calendar, or `undefined`
 * if the date does not exist.
 */
function daysSinceEpoch(year: number, month: number, day: number): number | undefined {
  const start = startOfMonth(year, month)
  // A comparison with NaN is false.
  if (!(year >= 0 && month >= 1 && month <= 12 && day >= 1)) return undefined
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
