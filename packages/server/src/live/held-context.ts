import { type EvaluationContext, FlagError } from '@ff/core'
import { MAX_HELD_CONTEXT_BYTES } from '@ff/protocol/sdk'

/** The sessions of one flag-set scope whose contexts are equal; the same object while it has sessions. */
export interface SubscriberGroup {
  /** Unique among the groups of the scope. */
  readonly name: string
  /** The context, as `HeldContext` has it. */
  readonly text: string
  readonly contextHash: string
}

/** A context as the server holds it for a live client: as text, which takes far less than objects. */
export interface HeldContext {
  /** JSON. */
  readonly text: string
  /** Bytes of memory that the text takes: one or two for each UTF-16 unit. */
  readonly bytes: number
}

const encoder = new TextEncoder()

/** Throws `PAYLOAD_TOO_LARGE` if the JSON text of the context has more than `MAX_HELD_CONTEXT_BYTES`. */
export function toHeldContext(context: EvaluationContext): HeldContext {
  const text = JSON.stringify(context)
  const size = utf8Length(text)
  if (size > MAX_HELD_CONTEXT_BYTES) {
    const limit = `must be at most ${MAX_HELD_CONTEXT_BYTES} bytes of JSON`
    throw new FlagError('PAYLOAD_TOO_LARGE', `\`context\` ${limit} here (got ${size}).`)
  }
  const bytesPerUnit = /[\u0100-\uffff]/.test(text) ? 2 : 1
  return { text, bytes: bytesPerUnit * text.length }
}

/** The context of a text that `toHeldContext` has returned. */
export function contextOfText(text: string): EvaluationContext {
  return JSON.parse(text)
}

/** Exact only if a text of this length can be too large. */
function utf8Length(text: string): number {
  // A UTF-16 unit takes at most three bytes.
  return text.length * 3 <= MAX_HELD_CONTEXT_BYTES ? text.length : encoder.encode(text).byteLength
}
