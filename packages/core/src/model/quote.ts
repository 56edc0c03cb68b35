import { isJsonObject } from './json.ts'

/** The longest piece of a value that a message repeats, in UTF-16 units. */
const MAX_EXCERPT_LENGTH = 200

/** Returns a value for a sentence: its `textOf` in quotation marks, shortened. Never throws. */
export function quote(value: unknown): string {
  return `"${clip(textOf(value))}"`
}

/** Returns text as it is, and anything else that a definition holds as its `jsonExcerpt`. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined ? '' : jsonExcerpt(value)
}

/** Returns a text that is short enough to be repeated; `…` stands for what is left out. */
export function clip(text: string): string {
  return text.length <= MAX_EXCERPT_LENGTH ? text : `${text.slice(0, MAX_EXCERPT_LENGTH)}…`
}

/**
 * Returns the beginning of a value's JSON text, and `[object Date]` or the like for what JSON cannot
 * write. Never throws, and reads no more of the value than it returns, so that a huge value costs
 * little and one that contains itself comes to an end.
 */
export function jsonExcerpt(value: unknown): string {
  return clip(extended('', value))
}

/** Each level adds a bracket, so the recursion is no deeper than the excerpt is long. */
function extended(text: string, value: unknown): string {
  if (typeof value === 'string') return text + JSON.stringify(cut(value))
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) {
    return text + String(value)
  }
  if (Array.isArray(value)) return extendedByList(text, value)
  if (isJsonObject(value)) return extendedByMembers(text, value)
  return text + Object.prototype.toString.call(value)
}

function extendedByList(before: string, list: readonly unknown[]): string {
  let text = `${before}[`
  for (let index = 0; index < list.length && !isFull(text); index += 1) {
    if (index > 0) text += ','
    text = extended(text, list[index] ?? null)
  }
  return `${text}]`
}

function extendedByMembers(before: string, object: { readonly [name: string]: unknown }): string {
  const start = `${before}{`
  let text = start
  for (const name of Object.keys(object)) {
    if (isFull(text)) break
    if (object[name] === undefined) continue
    if (text !== start) text += ','
    text = extended(`${text}${JSON.stringify(cut(name))}:`, object[name])
  }
  return `${text}}`
}

function isFull(text: string): boolean {
  return text.length > MAX_EXCERPT_LENGTH
}

function cut(text: string): string {
  return text.slice(0, MAX_EXCERPT_LENGTH + 1)
}
