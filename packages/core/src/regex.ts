import { RE2JS } from 're2js'
import type { RegexEngine } from './model/extensions.ts'

/** Patterns of more instructions are refused: each may be visited for each character of a text. */
const MAX_INSTRUCTIONS = 128
/** Bytes of states remembered for a pattern; the engine's own 8 MiB take far too long to fill. */
const STATE_BYTES = 16_384
const MAX_KNOWN = 1000

const known = new Map<string, RE2JS>()

/**
 * Regular expressions in the dialect of RE2, whose searches take time in proportion to the text,
 * whatever the pattern: no look-around, no back-references. Hand it to `compileFlagSet` as
 * `extensions.regex`. Patterns are compiled once and remembered; large ones count as invalid.
 */
export const re2: RegexEngine = (pattern, { ignoreCase }) => {
  const name = `${ignoreCase ? 'i' : '-'}${pattern}`
  const compiled = known.get(name) ?? compilePattern(pattern, ignoreCase)
  if (compiled === undefined) return undefined
  remember(name, compiled)
  return (text) => compiled.test(text)
}

/** Undefined: the pattern is invalid or too large. */
function compilePattern(pattern: string, ignoreCase: boolean): RE2JS | undefined {
  try {
    const compiled = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
    if (compiled.programSize() > MAX_INSTRUCTIONS) return undefined
    // When the states do not fit, the search goes on without them, in bounded steps.
    Object.assign(compiled.re2().dfa, { stateBudget: STATE_BYTES, memBudget: STATE_BYTES })
    return compiled
  } catch {
    return undefined
  }
}

/** The oldest is forgotten when there are too many. */
function remember(name: string, compiled: RE2JS): void {
  known.delete(name)
  known.set(name, compiled)
  const [oldest] = known.keys()
  if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest)
}
