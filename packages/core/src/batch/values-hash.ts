import type { CompiledFlag } from '../evaluation/flag.ts'
import { servedBy } from '../evaluation/outcome.ts'
import { hash128Into } from '../hashing/hash128.ts'
import { hexOf } from '../hashing/hex.ts'
import { viewOf } from './batch-cache.ts'
import type { Evaluation } from './evaluate-all.ts'
import { type FlagSetView, offsetsOf } from './flag-set-view.ts'

/**
 * Returns a 128-bit hash of the keys and values of an evaluation, as 32 lower-case hex digits. The
 * hash depends neither on the version of the flag set nor on the platform. It is the bitwise XOR of
 * the hashes of all pairs of key and value, which are cached.
 */
export function valuesHash({ flagSet, flags, codes, start }: Evaluation): string {
  const isAll = flags === flagSet.ordered
  const { offsets, hashes } = isAll ? tableOf(viewOf(flagSet)) : newTable(flags)
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  for (let index = 0; index < flags.length; index += 1) {
    const at = 4 * ((offsets[index] ?? 0) + servedBy(codes[start + index] ?? 0))
    a ^= hashes[at] ?? 0
    b ^= hashes[at + 1] ?? 0
    c ^= hashes[at + 2] ?? 0
    d ^= hashes[at + 3] ?? 0
  }
  sum[0] = a
  sum[1] = b
  sum[2] = c
  sum[3] = d
  return hexOf(sum)
}

const sum = new Int32Array(4)

/** The hashes of all values of all flags. The hashes of a flag start at four times its offset. */
interface Table {
  readonly offsets: Int32Array
  readonly hashes: Int32Array
}

/** Returns the hashes of a view. Computes only the hashes that are missing. */
function tableOf(view: FlagSetView): Table {
  const { flags, offsets, unhashed } = view
  view.hashes ??= roomFor(offsets)
  for (const at of unhashed) hashFlag(view.hashes, offsets, at, flags[at])
  view.unhashed = []
  return { offsets, hashes: view.hashes }
}

function newTable(flags: readonly CompiledFlag[]): Table {
  const offsets = offsetsOf(flags)
  const hashes = roomFor(offsets)
  for (const [at, flag] of flags.entries()) hashFlag(hashes, offsets, at, flag)
  return { offsets, hashes }
}

function roomFor(offsets: Int32Array): Int32Array {
  return new Int32Array(4 * (offsets.at(-1) ?? 0))
}

/** Computes the four words of the hash of each value of a flag. */
function hashFlag(hashes: Int32Array, offsets: Int32Array, at: number, flag?: CompiledFlag): void {
  for (const [index, member] of (flag?.members ?? []).entries()) {
    const begin = 4 * ((offsets[at] ?? 0) + index)
    hash128Into(hashes.subarray(begin, begin + 4), member.slice(1))
  }
}
