/** The maximum length of a note in characters. */
const MOST_CHARACTERS = 1000
const CONTROL = /\p{Cc}+/gu
const UNPAIRED = /\p{Cs}/gu

/** Returns typed text as a note: on one line, because a note contains no control characters. */
export function noteOf(text: string): string {
  return text.replace(CONTROL, ' ').replace(UNPAIRED, '')
}

/** What is wrong with a note. */
export type NoteFault =
  | { readonly kind: 'missing' }
  | { readonly kind: 'tooLong'; readonly length: number }

/** Returns what is wrong with a note. `undefined` if it can be sent. */
export function noteFault(note: string, isRequired: boolean): NoteFault | undefined {
  const { length } = Array.from(note.trim())
  if (length > MOST_CHARACTERS) return { kind: 'tooLong', length }
  return length === 0 && isRequired ? { kind: 'missing' } : undefined
}
