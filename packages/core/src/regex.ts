import { RE2JS } from 're2js'
import type { RegexEngine } from './model/extensions.ts'

/**
 * The maximum number of instructions of a compiled pattern. A search can visit every instruction
 * for every character of a text.
 */
const MAX_INSTRUCTIONS = 128
/**
 * The maximum size of the state cache of a pattern, in bytes. Filling the 8 MiB of RE2's default
 * would take far too long.
 */
const STATE_BYTES = 16_384
const MAX_CACHED = 1000

const cache = new Map<string, RE2JS>()

/**
 * The engine for regular expressions in the RE2 dialect, which has no look-around and no
 * back-references. Pass `re2` to `compileFlagSet` as `extensions.regex`. For every pattern, the
 * time of a search is proportional to the length of the text. Compiled patterns are cached. A
 * pattern of more than 128 instructions counts as invalid.
 */
export const re2: RegexEngine = (pattern, { ignoreCase }) => {
  const name = `${ignoreCase ? 'i' : '-'}${pattern}`
  const compiled = cache.get(name) ?? compilePattern(pattern, ignoreCase)
  if (compiled === undefined) return undefined
  addToCache(name, compiled)
  return (text) => compiled.test(text)
}

/** Compiles a pattern. Returns `undefined` if the pattern is invalid or too large. */
function compilePattern(pattern: string, ignoreCase: boolean): RE2JS | undefined {
  try {
    const compiled = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
    if (compiled.programSize() > MAX_INSTRUCTIONS) return undefined
    // When the state cache is full, RE2 searches without the cache, still in linear time.
    Object.assign(compiled.re2().dfa, { stateBudget: STATE_BYTES, memBudget: STATE_BYTES })
    return compiled
  } catch {
    return undefined
  }
}

/**
 * Adds a pattern as the most recently used one. Removes the least recently used pattern if the
 * cache is full.
 */
function addToCache(name: string, compiled: RE2JS): void {
  cache.delete(name)
  cache.set(name, compiled)
  const [oldest] = cache.keys()
  if (cache.size > MAX_CACHED && oldest !== undefined) cache.delete(oldest)
}
