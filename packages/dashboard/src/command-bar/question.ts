/** What a text in the command bar asks for. */
export type Question =
  | { readonly kind: 'find'; readonly text: string }
  | {
      readonly kind: 'switch'
      readonly isActive: boolean
      readonly flag: string
      /** The start of a name or key of an environment; empty for any. */
      readonly environment: string
    }
  | { readonly kind: 'why'; readonly key: string }

const WHY = /^why\s+(\S.*)$/i
const SWITCH = /^(?:switch|turn)\s+(on|off)\s+(\S.*)$/i
const IN = /^(.*\S)\s+in(?:\s+(.*))?$/i

/** Returns what a text asks for: "switch off checkout in live", "why user-42", or a search. */
export function parseQuestion(input: string): Question {
  const text = input.trim()
  const why = WHY.exec(text)?.[1]
  if (why !== undefined) return { kind: 'why', key: why }
  const [, word = '', rest] = SWITCH.exec(text) ?? []
  if (rest === undefined) return { kind: 'find', text }
  const [, flag = rest, environment = ''] = IN.exec(rest) ?? []
  return { kind: 'switch', isActive: word.toLowerCase() === 'on', flag, environment }
}

/** Returns `true` if every word of a text is the start of a word of a name. */
export function matches(text: string, name: string): boolean {
  const words = name.toLowerCase().split(/\s+/)
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean)
  return wanted.every((start) => words.some((word) => word.startsWith(start)))
}
