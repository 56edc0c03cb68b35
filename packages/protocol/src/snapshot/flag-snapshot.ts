import type { FlagValues } from '@ff/core'
import { textHash } from './text-hash.ts'

/** The values of a context as JSON. The option `bootstrap` of a client accepts it. */
export interface FlagSnapshot {
  readonly flags: FlagValues
  /** The version of the flag set; absent if it is not known. */
  readonly version?: number
  /** The hash of the context of the values; absent if it is not known. */
  readonly context?: string
}

/** Creates a snapshot. `contextText` is the text of the context, if it is known. */
export function toSnapshot(
  flags: FlagValues,
  version: number,
  contextText: string | undefined,
): FlagSnapshot {
  return {
    flags,
    ...(version && { version }),
    ...(contextText && { context: textHash(contextText) }),
  }
}

/**
 * Returns the JSON of a snapshot for a `<script>` element of a page. Characters that could end the
 * element or a line of a script are escaped.
 */
export function serializeSnapshot(snapshot: FlagSnapshot): string {
  return JSON.stringify(snapshot).replace(
    /[<\u2028\u2029]/g,
    (character) => `\\u${(0x10000 + character.charCodeAt(0)).toString(16).slice(1)}`,
  )
}
