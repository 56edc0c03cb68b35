import { fromBase64, toBase64 } from '../secrets/base64.ts'
import { invalid } from './validation.ts'

/**
 * A position in a list: behind the entry with this value of the sort field and this id, which need
 * not exist any more.
 */
export interface CursorPosition {
  readonly value: string
  readonly id: string
}

/** Text that every store can compare. */
const COMPARABLE = /^[^\0\p{Cs}]*$/u

/**
 * Returns the cursor of a position. `order` names the list and its order. The cursor is opaque for
 * clients, and contains nothing that its list does not return.
 */
export function toCursor(order: string, { value, id }: CursorPosition): string {
  const bytes = new TextEncoder().encode(JSON.stringify([order, value, id]))
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/**
 * Returns the position of a cursor. Throws `INVALID_REQUEST` if the cursor is not one of a list with
 * this order.
 */
export function fromCursor(order: string, cursor: string): CursorPosition {
  const parts = partsOf(cursor)
  const [found, value, id] = parts ?? []
  const isReadable = parts?.every((part) => typeof part === 'string' && COMPARABLE.test(part))
  if (parts?.length === 3 && isReadable && found === order) {
    return { value: String(value), id: String(id) }
  }
  throw invalid('after', 'must be `next` of a page of the same list with the same sort order')
}

function partsOf(cursor: string): readonly unknown[] | undefined {
  try {
    const bytes = fromBase64(cursor.replaceAll('-', '+').replaceAll('_', '/'))
    const parts: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return Array.isArray(parts) ? parts : undefined
  } catch {
    return undefined
  }
}
