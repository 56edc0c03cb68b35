import { type Comparison, type Fold, parseTexts } from './comparison.ts'
import type { TextSearch } from './text-search.ts'

export const asWritten: Fold = (text) => text

/**
 * Unicode's simple lower case: one code point for one, whatever stands around it, no locale.
 * `toLowerCase` does the same but for the two letters replaced here.
 */
export const inLowerCase: Fold = (text) => {
  // To look for the letters first is faster, for hardly any text has them.
  const hasOther = text.includes('\u0130') || text.includes('\u03a3')
  const replaced = hasOther ? text.replaceAll('\u0130', 'i').replaceAll('\u03a3', '\u03c3') : text
  return replaced.toLowerCase()
}

/** Text in which a search for the texts of a list succeeds. */
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

/** Equal to any of a list of texts. */
export const textMembership = textual((list) => {
  const texts = new Set(list)
  return (text) => texts.has(text)
}, asWritten)
