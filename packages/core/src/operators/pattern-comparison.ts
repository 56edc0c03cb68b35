import type { JsonValue } from '../model/json.ts'
import type { Comparison, TestResult } from './comparison.ts'

/** The maximum length of a regular expression, in UTF-16 units. */
export const MAX_PATTERN_LENGTH = 1000
/** The maximum length of a text that is searched, in UTF-16 units. */
export const MAX_SEARCHED_TEXT = 1024
/** The maximum total length of the texts of an array that are searched, in UTF-16 units. */
export const MAX_SEARCHED_ARRAY = 2048

/**
 * Creates a comparison that matches a text in which the regular expression is found, or an array
 * with such a text. Texts and arrays beyond the limits are unreadable.
 */
export function pattern(flags: { readonly ignoreCase: boolean }): Comparison {
  return {
    expects: 'pattern',
    read: (value, means) => {
      if (value.length > MAX_PATTERN_LENGTH) return undefined
      const { regex } = means.extensions
      if (regex === undefined) return means.reportMissing('regex engine')
      const isFoundIn = regex(value, flags)
      if (isFoundIn === undefined) return undefined
      return (candidate) => {
        if (Array.isArray(candidate)) return searchArray(candidate, isFoundIn)
        if (typeof candidate !== 'string') return undefined
        return candidate.length > MAX_SEARCHED_TEXT ? 'unreadable' : isFoundIn(candidate)
      }
    },
    isOfWhole: true,
  }
}

function searchArray(
  array: readonly JsonValue[],
  isFoundIn: (text: string) => boolean,
): TestResult {
  if (array.length === 0) return false
  const texts = array.filter((element) => typeof element === 'string')
  if (texts.length === 0) return undefined
  const isTooLong = texts.some(({ length }) => length > MAX_SEARCHED_TEXT)
  const units = texts.reduce((sum, { length }) => sum + length, 0)
  return isTooLong || units > MAX_SEARCHED_ARRAY ? 'unreadable' : texts.some(isFoundIn)
}
