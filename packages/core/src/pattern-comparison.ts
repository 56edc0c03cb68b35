import { type Comparison, parsed } from './comparison.ts'

/** Longer patterns are refused. */
export const MAX_PATTERN_LENGTH = 1000

/** Text in which a regular expression is found. */
export function pattern(flags: { readonly ignoreCase: boolean }): Comparison {
  return {
    expects: 'pattern',
    read: (value, { engines: { regex }, lack }) => {
      if (value.length > MAX_PATTERN_LENGTH) return undefined
      if (regex === undefined) return lack('regex engine')
      const isFoundIn = regex(value, flags)
      if (isFoundIn === undefined) return undefined
      return (candidate) => parsed(candidate, isFoundIn)
    },
  }
}
