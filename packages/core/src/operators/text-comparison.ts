import { type Comparison, type Fold, parseTexts } from './comparison.ts'
import type { TextSearch } from './text-search.ts'

/** Returns the text unchanged, for case-sensitive comparisons. */
export const asWritten: Fold = (text) => text

/**
 * Converts a text to lower case by the simple case mapping of Unicode: each code point is mapped to
 * one code point, independent of its neighbours and of the locale. `toLowerCase` differs only for
 * the two letters that are replaced here.
 */
export const inLowerCase: Fold = (text) => {
  // Most texts do not contain these letters, and the check is faster than the replacement.
  const hasOther = text.includes('\u0130') || text.includes('\u03a3')
  const replaced = hasOther ? text.replaceAll('\u0130', 'i').replaceAll('\u03a3', '\u03c3') : text
  return replaced.toLowerCase()
}

/** Creates a comparison that searches a text for the texts of a list. */
export function textual(search: (list: readonly string[]) => TextSearch, fold: Fold): Comparison {
  return {
    expects: 'texts',
    read: (value, means) => {
      if (parseTexts(value) === undefined) return undefined
      const isFoundIn = means.lazily(() => search((parseTexts(value) ?? []).map(fold)))
      return (candidate) =>
        typeof candidate === 'string' ? isFoundIn()(fold(candidate)) : undefined
    },
  }
}

/** Matches a text that equals any text of a list. */
export const textMembership = textual((list) => {
  const texts = new Set(list)
  return (text) => texts.has(text)
}, asWritten)
