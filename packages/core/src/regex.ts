import { RE2JS } from 're2js'
import type { RegexEngine } from './model/extensions.ts'

/**
 * The maximum number of instructions of a compiled pattern. A search can visit every instruction
 * for every character of a text.
 */
const MAX_INSTRUCTIONS = 128
/**
 * The size of the state cache of a pattern, in bytes. Filling RE2's default of 8 MiB takes far too
 * long.
 */
const STATE_BYTES = 16_384
const MAX_CACHED = 1000

const cache = new Map<string, RE2JS>()

/**
 * Regular expressions in the RE2 dialect, without look-around and back-references. A search takes
 * time proportional to the length of the text, for every pattern. Pass it to `compileFlagSet` as
 * `extensions.regex`. Compiled patterns are cached. Patterns of more than 128 instructions count as
 * invalid.
 */
export const re2: RegexEngine = (pattern, { ignoreCase }) => {
  const name = `${ignoreCase ? 'i' : '-'}${pattern}`
  const compiled = cache.get(name) ?? compilePattern(pattern, ignoreCase)
  if (compiled === undefined) return undefined
  addToCache(name, compiled)
  return (text) => compiled.test(text)
}

/** Returns `undefined` if the pattern is invalid or too large. */
function compilePattern(pattern: string, ignoreCase: boolean): RE2JS | undefined {
  try {
    const compiled = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
    if (compiled.programSize() > MAX_INSTRUCTIONS) return undefined
    // When the cache is full, RE2 continues without it, still in linear time.
    Object.assign(compiled.re2().dfa, { stateBudget: STATE_BYTES, memBudget: STATE_BYTES })
    return compiled
  } catch {
    return undefined
  }
}

/** Adds a pattern as the most recently used one, and removes the least recently used if needed. */
function addToCache(name: string, compiled: RE2JS): void {
  cache.delete(name)
  cache.set(name, compiled)
  const [oldest] = cache.keys()
  if (cache.size > MAX_CACHED && oldest !== undefined) cache.delete(oldest)
}
