const TOKEN =
  /[ \t\n\r]*(?:([{}[\],:])|("(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.]))/y

/** Returns the position of the first fault in JSON. `undefined` if the text is valid. */
export function jsonFaultAt(text: string): number | undefined {
  const open: string[] = []
  let expected = 'value'
  let at = 0
  while (true) {
    const start = at + (/^[ \t\n\r]*/.exec(text.slice(at))?.[0].length ?? 0)
    if (start === text.length) return expected === 'end' ? undefined : start
    TOKEN.lastIndex = at
    const match = TOKEN.exec(text)
    const [, sign, string] = match ?? []
    if (match === null || hasControl(string ?? '')) return start
    const next = after(expected, sign ?? (string === undefined ? 'scalar' : 'string'), open)
    if (next === undefined) return start
    expected = next
    at = TOKEN.lastIndex
  }
}

/** Returns what must follow a token. `undefined` if the token must not be there. */
function after(expected: string, token: string, open: string[]): string | undefined {
  const isValue = expected.startsWith('value')
  if (isValue && (token === '{' || token === '[')) {
    open.push(token)
    return token === '{' ? 'keyOrEnd' : 'valueOrEnd'
  }
  if (isValue && (token === 'scalar' || token === 'string')) return following(open)
  if (expected.startsWith('key') && token === 'string') return 'colon'
  if (expected === 'colon' && token === ':') return 'value'
  if (expected === 'next' && token === ',') return open.at(-1) === '{' ? 'key' : 'value'
  const closing = open.at(-1) === '{' ? '}' : ']'
  const canClose = expected === 'next' || expected.endsWith('OrEnd')
  if (!canClose || token !== closing) return undefined
  open.pop()
  return following(open)
}

function following(open: readonly string[]): string {
  return open.length === 0 ? 'end' : 'next'
}

/** Returns `true` if a string contains a character that JSON requires to be escaped. */
function hasControl(text: string): boolean {
  return Array.from(text).some((character) => character < ' ')
}
