/** A text, a punctuation mark, or a number or word of JSON. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs

/**
 * Returns valid JSON with line breaks and an indentation of two spaces. Every number, text and name
 * stays as it is written. Text that is not valid JSON is returned unchanged.
 */
export function formatJson(text: string): string {
  if (!isJson(text)) return text
  const tokens = text.match(TOKEN) ?? []
  let depth = 0
  const line = () => `\n${'  '.repeat(depth)}`
  return tokens.reduce((before, token, at) => {
    const isFirst = isOpening(tokens[at - 1])
    if (isOpening(token)) {
      const start = before + (isFirst ? line() : '') + token
      depth += 1
      return start
    }
    if (token === '}' || token === ']') {
      depth -= 1
      return before + (isFirst ? '' : line()) + token
    }
    if (token === ',') return before + token + line()
    if (token === ':') return `${before}: `
    return before + (isFirst ? line() : '') + token
  }, '')
}

/**
 * Returns the reason why a program that parses this JSON would lose a part of it: a number that a
 * double cannot represent, or a name that an object has twice. `undefined` if there is none, or if
 * the text is not valid JSON.
 */
export function lossOfJson(text: string): string | undefined {
  if (!isJson(text)) return undefined
  /** The names of each open object; `undefined` for an array. */
  const open: (Set<string> | undefined)[] = []
  let last = ''
  for (const [token] of text.matchAll(TOKEN)) {
    if (isOpening(token)) open.push(token === '{' ? new Set() : undefined)
    else if (token === '}' || token === ']') open.pop()
    else if (token === ':') {
      const names = open.at(-1)
      const name: string = JSON.parse(last)
      if (names?.has(name)) return `has the name ${last} twice in one object`
      names?.add(name)
    } else if (/^[-\d]/.test(token) && !isKept(token)) {
      return `has the number ${token}, which cannot be represented exactly; write it as text`
    }
    last = token
  }
  return undefined
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function isOpening(token: string | undefined): boolean {
  return token === '{' || token === '['
}

/** Returns `true` if a parsed number has the value of its text. */
function isKept(text: string): boolean {
  const number = Number(text)
  if (Number.isInteger(number) && !Number.isSafeInteger(number)) return false
  return Number.isFinite(number) && decimalOf(text) === decimalOf(String(number))
}

/** Returns the digits of a number without zeros at their ends, and its exponent. */
function decimalOf(text: string): string {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const trimmed = digits.replace(/0+$/, '')
  if (trimmed === '') return '0'
  return `${trimmed}e${Number(exponent) - fraction.length + digits.length - trimmed.length}`
}
