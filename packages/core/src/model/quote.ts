import { isJsonObject } from './json.ts'

/** The maximum length of a value that is quoted in a message, in UTF-16 units. */
const MAX_EXCERPT_LENGTH = 200

/** Returns the text of a value (see `textOf`) in quotation marks, shortened. Never throws. */
export function quote(value: unknown): string {
  return `"${clip(textOf(value))}"`
}

/**
 * Returns a text unchanged, the empty text for `undefined`, and the `jsonExcerpt` of any other
 * value.
 */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined ? '' : jsonExcerpt(value)
}

/** Returns the first 200 UTF-16 units of a text, followed by `…` if the text is longer. */
export function clip(text: string): string {
  return text.length <= MAX_EXCERPT_LENGTH ? text : `${text.slice(0, MAX_EXCERPT_LENGTH)}…`
}

/**
 * Returns the first 200 UTF-16 units of the JSON text of a value. A part of the value that is not
 * JSON is written like `[object Date]`. Never throws. Reads no more of the value than it returns,
 * so that huge and circular values are safe.
 */
export function jsonExcerpt(value: unknown): string {
  return clip(extended('', value))
}

/**
 * Appends the start of the JSON text of a value to `text`. Each level of nesting adds a bracket, so
 * that the length of the excerpt limits the depth of recursion.
 */
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
