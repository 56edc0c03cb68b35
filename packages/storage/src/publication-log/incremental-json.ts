import type { Interruptible } from '../runtime/time-slice.ts'

/** The length, in characters, from which text is parsed in several steps. */
const LONG = 512 * 1024
/** The number of characters that one step processes. */
const CHARACTERS_PER_STEP = 64 * 1024

/**
 * Returns the same text as `JSON.stringify` for an object of JSON values. Arrays are written in
 * several steps.
 */
export function* stringifyIncrementally(object: object): Interruptible<string> {
  const members: string[] = []
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue
    const text = Array.isArray(value) ? yield* listText(value) : JSON.stringify(value)
    members.push(`${JSON.stringify(name)}:${text}`)
  }
  return `{${members.join(',')}}`
}

function* listText(list: readonly unknown[]): Interruptible<string> {
  const elements: string[] = []
  let length = 0
  for (const element of list) {
    const text = JSON.stringify(element) ?? 'null'
    elements.push(text)
    length += text.length
    if (length < CHARACTERS_PER_STEP) continue
    length = 0
    yield
  }
  return `[${elements.join(',')}]`
}

/**
 * Returns the same value as `JSON.parse` for the text of an object. Arrays of a long object are
 * read in several steps.
 */
export function* parseIncrementally(text: string): Interruptible<unknown> {
  if (text.length < LONG) return JSON.parse(text)
  const { shell, lists } = yield* splitLists(text)
  const read: unknown[][] = []
  for (const pieces of lists) {
    const list: unknown[] = []
    read.push(list)
    for (const piece of pieces) {
      list.push(...(JSON.parse(`[${piece}]`) as unknown[]))
      yield
    }
  }
  const members = Object.entries(JSON.parse(shell) as Record<string, unknown>)
  // An assignment to `__proto__` would set the prototype. `fromEntries` defines a property instead.
  return Object.fromEntries(
    members.map(([name, value]) => [name, Array.isArray(value) ? read[value[0]] : value]),
  )
}

interface Split {
  /** The text of the object, in which each array contains only its index in `lists`. */
  readonly shell: string
  /** The text of the elements of each array, split into pieces of complete elements. */
  readonly lists: readonly (readonly string[])[]
}

const QUOTE = 0x22
const COMMA = 0x2c
const [OPEN_LIST, CLOSE_LIST] = [0x5b, 0x5d]
const [OPEN_OBJECT, CLOSE_OBJECT] = [0x7b, 0x7d]

function* splitLists(text: string): Interruptible<Split> {
  const shell: string[] = []
  const lists: string[][] = []
  let depth = 0
  let kept = 0
  let start = -1
  let checkedAt = 0
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) at = endOfString(text, at)
    else if (unit === OPEN_LIST || unit === OPEN_OBJECT) {
      depth += 1
      if (depth !== 2 || unit !== OPEN_LIST) continue
      shell.push(text.slice(kept, at + 1), String(lists.length))
      lists.push([])
      start = at + 1
    } else if (unit === CLOSE_LIST || unit === CLOSE_OBJECT) {
      depth -= 1
      if (depth !== 1 || start === -1 || unit !== CLOSE_LIST) continue
      if (at > start) lists.at(-1)?.push(text.slice(start, at))
      kept = at
      start = -1
    } else if (unit === COMMA && depth === 2 && start !== -1 && at - start > CHARACTERS_PER_STEP) {
      lists.at(-1)?.push(text.slice(start, at))
      start = at + 1
    }
    if (at - checkedAt > CHARACTERS_PER_STEP) {
      checkedAt = at
      yield
    }
  }
  shell.push(text.slice(kept))
  return { shell: shell.join(''), lists }
}

/** Returns the position of the quotation mark that ends the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text.charAt(at - 1 - slashes) === '\\') slashes += 1
    if (slashes % 2 === 0) return at
  }
  return text.length
}
