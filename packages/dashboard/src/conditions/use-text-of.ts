import { useState } from 'react'

/**
 * Keeps the text that a user types for a value, so that spaces and line breaks do not disappear
 * while they are typed. A value that is changed elsewhere, such as by undo, replaces the text.
 */
export function useTextOf(
  value: string,
  format: (value: string) => string,
  parse: (text: string) => string,
): readonly [string, (text: string) => void] {
  const [text, setText] = useState(() => format(value))
  const isOwn = parse(text) === value || text === format(value)
  return [isOwn ? text : format(value), setText]
}
