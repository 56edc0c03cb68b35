import { type Endpoint, hasVisibleCharacter } from '@ff/protocol/management'
import { invalid } from './validation.ts'

/** The request header with the reason for a change, as percent-encoded UTF-8. */
export const COMMENT_HEADER = 'X-FF-Comment'

/** The maximum length of a comment in characters (Unicode code points). */
export const MAX_COMMENT_LENGTH = 1000

const VISIBLE_ASCII = /^[\x20-\x7e]*$/
const FORBIDDEN = /[\p{Cc}\p{Cs}]/u

/** Returns `true` if the requests of an endpoint can have a comment, because they change a resource. */
export function acceptsComment({ method, permission }: Endpoint): boolean {
  if (permission === 'anyone' || permission === 'oneself') return false
  return method !== 'GET' && !permission.endsWith('.read')
}

/**
 * Returns the comment of a request; `undefined` without the header. Throws `INVALID_REQUEST` if the
 * header is not percent-encoded UTF-8.
 */
export function decodeComment(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  if (!VISIBLE_ASCII.test(header)) throw malformed()
  try {
    return decodeURIComponent(header)
  } catch {
    throw malformed()
  }
}

/**
 * Returns a valid comment unchanged. Returns an empty text for a comment without a visible
 * character: `applyChange` refuses it, with the code `COMMENT_REQUIRED` if the change requires a
 * comment. Throws `INVALID_REQUEST` if the comment is too long or contains control characters.
 */
export function checkComment(comment: string | undefined): string | undefined {
  if (comment === undefined) return undefined
  if (typeof comment !== 'string') throw invalid(COMMENT_HEADER, 'must be a string')
  if (isTooLong(comment))
    throw invalid(COMMENT_HEADER, `must have at most ${MAX_COMMENT_LENGTH} characters`)
  if (FORBIDDEN.test(comment))
    throw invalid(COMMENT_HEADER, 'must not contain control characters or unpaired surrogates')
  return hasVisibleCharacter(comment) ? comment : ''
}

function isTooLong(comment: string): boolean {
  // A code point has at most two UTF-16 units, so only a short text is counted.
  if (comment.length > 2 * MAX_COMMENT_LENGTH) return true
  return [...comment].length > MAX_COMMENT_LENGTH
}

function malformed() {
  return invalid(COMMENT_HEADER, 'must be percent-encoded UTF-8, such as Fixes%20the%20checkout')
}
