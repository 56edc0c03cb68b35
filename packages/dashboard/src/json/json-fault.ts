/** A place in a text; both numbers begin with 1. */
export interface TextPlace {
  readonly line: number
  readonly column: number
}

/** The result of a check of JSON text. */
export type JsonCheck =
  | { readonly isValid: true; readonly value: unknown }
  | { readonly isValid: false; readonly place: TextPlace }

/** Parses JSON text. For text that is not valid, returns the place of the first fault. */
export function checkJson(text: string): JsonCheck {
  try {
    return { isValid: true, value: JSON.parse(text) }
  } catch {
    // The message of the error names the place in some browsers and for some faults only.
    return { isValid: false, place: placeAt(text, faultOffset(text)) }
  }
}

function placeAt(text: string, offset: number): TextPlace {
  const lines = text.slice(0, offset).split('\n')
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 }
}

const SPACE = /[\t\n\r ]*/y
const TOKEN =
  /("(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[[\]{},:]/uy

/** What can follow in JSON text. */
type Expected = 'value' | 'first item' | 'first name' | 'name' | 'colon' | 'end of value'

/** Returns the position of the first token that is not permitted; the length if one is missing. */
function faultOffset(text: string): number {
  const open: string[] = []
  let expected: Expected = 'value'
  let offset = 0
  while (offset < text.length) {
    SPACE.lastIndex = offset
    offset += SPACE.exec(text)?.[0].length ?? 0
    TOKEN.lastIndex = offset
    const token = TOKEN.exec(text)?.[0]
    const next: Expected | undefined =
      token === undefined ? undefined : afterToken(token, expected, open)
    if (token === undefined || next === undefined) return offset
    expected = next
    offset += token.length
  }
  return text.length
}

/** Returns what can follow a token; `undefined` if the token is not permitted. */
function afterToken(token: string, expected: Expected, open: string[]): Expected | undefined {
  if (token === ':') return expected === 'colon' ? 'value' : undefined
  if (token === ',') return expected === 'end of value' ? afterComma(open.at(-1)) : undefined
  if (token === ']' || token === '}') return afterClose(token, expected, open)
  if (expected === 'name' || expected === 'first name') {
    return token.startsWith('"') ? 'colon' : undefined
  }
  if (expected !== 'value' && expected !== 'first item') return undefined
  if (token !== '[' && token !== '{') return 'end of value'
  open.push(token)
  return token === '[' ? 'first item' : 'first name'
}

function afterComma(inside: string | undefined): Expected | undefined {
  if (inside === undefined) return undefined
  return inside === '[' ? 'value' : 'name'
}

function afterClose(token: string, expected: Expected, open: string[]): Expected | undefined {
  const [start, first] = token === ']' ? ['[', 'first item'] : ['{', 'first name']
  const isPermitted = expected === 'end of value' || expected === first
  return isPermitted && open.pop() === start ? 'end of value' : undefined
}
