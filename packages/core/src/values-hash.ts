import type { Evaluation } from './evaluate.ts'
import type { CompiledFlag } from './flag.ts'
import { hash128Into, hexOf } from './hash128.ts'
import { servedBy } from './outcome.ts'

/**
 * A fingerprint, in 128 bits, of what `valuesOf` and `jsonOf` give: equal for equal keys and
 * values, whatever the version and wherever it was evaluated. Each key with one of its values has
 * a hash, made once; an answer's hash is the exclusive or of those that are in it.
 */
export function valuesHash({ flagSet, flags, codes, start }: Evaluation): string {
  const { offsets, hashes } = flags === flagSet.ordered ? tableOf(flags) : newTable(flags)
  let [a, b, c, d] = [0, 0, 0, 0]
  for (let index = 0; index < flags.length; index += 1) {
    const at = (offsets[index] ?? 0) + 4 * servedBy(codes[start + index] ?? 0)
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

/** The hashes of all flags side by side; those of one flag begin at its offset. */
interface Table {
  readonly offsets: Int32Array
  readonly hashes: Int32Array
}

/** A flag set is asked again and again; a flag that does not change is in the next one, too. */
const tables = new WeakMap<readonly CompiledFlag[], Table>()
const hashesByFlag = new WeakMap<CompiledFlag, Int32Array>()

function tableOf(flags: readonly CompiledFlag[]): Table {
  const known = tables.get(flags)
  if (known !== undefined) return known
  const table = newTable(flags)
  tables.set(flags, table)
  return table
}

function newTable(flags: readonly CompiledFlag[]): Table {
  const parts = flags.map(hashesOf)
  const offsets = new Int32Array(flags.length)
  let length = 0
  for (const [index, part] of parts.entries()) {
    offsets[index] = length
    length += part.length
  }
  const hashes = new Int32Array(length)
  for (const [index, part] of parts.entries()) hashes.set(part, offsets[index])
  return { offsets, hashes }
}

/** Four words for each value that the flag may have. */
function hashesOf(flag: CompiledFlag): Int32Array {
  const known = hashesByFlag.get(flag)
  if (known !== undefined) return known
  const hashes = new Int32Array(4 * flag.members.length)
  for (const [index, member] of flag.members.entries()) {
    hash128Into(hashes.subarray(4 * index), member.slice(1))
  }
  hashesByFlag.set(flag, hashes)
  return hashes
}
