import { type EvaluationContext, FlagError } from '@ff/core'
import { MAX_HELD_CONTEXT_BYTES } from '@ff/protocol/sdk'

/**
 * A group of sessions with equal contexts, within one environment and kind of SDK key. The object
 * stays the same while the group has sessions.
 */
export interface SubscriberGroup {
  /** A name that is unique among the groups of the scope. */
  readonly name: string
  /** The context as JSON, as in `HeldContext`. */
  readonly text: string
  /** The hash of the context, as `contextHashOf` returns it. */
  readonly contextHash: string
}

/** The group of the sessions that receive the flag set of their environment. */
export const FLAG_SET_GROUP: SubscriberGroup = { name: 'flag set', text: '', contextHash: '' }

/** The group of the sessions that are notified of changes and receive no values. */
export const EVENT_STREAM_GROUP: SubscriberGroup = {
  name: 'event stream',
  text: '',
  contextHash: '',
}

/**
 * The context of a live client in memory. It is stored as text, which uses far less memory than
 * objects.
 */
export interface HeldContext {
  /** The context as JSON. */
  readonly text: string
  /** The memory that the text uses, in bytes: one or two for each UTF-16 unit. */
  readonly bytes: number
}

const encoder = new TextEncoder()

/**
 * Converts a context to text. Throws `PAYLOAD_TOO_LARGE` if the text has more than
 * `MAX_HELD_CONTEXT_BYTES` in UTF-8.
 */
export function toHeldContext(context: EvaluationContext): HeldContext {
  const text = JSON.stringify(context)
  const size = utf8Length(text)
  if (size > MAX_HELD_CONTEXT_BYTES) {
    const limit = `must be at most ${MAX_HELD_CONTEXT_BYTES} bytes of JSON`
    throw new FlagError('PAYLOAD_TOO_LARGE', `\`context\` of a live client ${limit} (got ${size}).`)
  }
  const bytesPerUnit = /[\u0100-\uffff]/.test(text) ? 2 : 1
  return { text, bytes: bytesPerUnit * text.length }
}

/** Parses the text of a `HeldContext`. */
export function contextOfText(text: string): EvaluationContext {
  return JSON.parse(text)
}

/**
 * Returns the length of a text in UTF-8, in bytes. If the text is too short to exceed
 * `MAX_HELD_CONTEXT_BYTES`, returns its number of UTF-16 units instead, which is faster.
 */
function utf8Length(text: string): number {
  // A UTF-16 unit needs at most three bytes in UTF-8.
  return text.length * 3 <= MAX_HELD_CONTEXT_BYTES ? text.length : encoder.encode(text).byteLength
}
