import type { CompiledFlag } from '../evaluation/flag.ts'
import type { FlagValue, FlagValues } from '../model/value.ts'
import { JsonPieces } from './json-pieces.ts'
import { ValuesTemplate } from './values-template.ts'

/**
 * Turns the codes of all flags of a set into values and JSON text. What would otherwise have to be
 * fetched from one flag after the other lies here side by side.
 */
export class FlagSetView {
  readonly flags: readonly CompiledFlag[]
  /** See `offsetsOf`. */
  readonly offsets: Int32Array
  readonly #values: FlagValue[]
  readonly #template: ValuesTemplate
  /** Made when text is first asked for. */
  #pieces: JsonPieces | undefined
  /** For whoever needs them: the four words of the hash of each member; undefined: nobody did. */
  hashes: Int32Array | undefined
  /** The positions of flags whose hashes are to be made. */
  unhashed: number[]

  /** What is as it was before is copied, which takes a fraction of the time. */
  constructor(flags: readonly CompiledFlag[], before: FlagSetView | undefined) {
    this.flags = flags
    const changed = before && changedPositions(before.flags, flags)
    if (before !== undefined && changed !== undefined) {
      this.offsets = before.offsets
      this.#values = before.#values.slice()
      this.#template = before.#template
      this.hashes = before.hashes?.slice()
      this.unhashed = [...before.unhashed, ...changed]
      for (const at of changed) this.#take(at)
      return
    }
    this.offsets = offsetsOf(flags)
    this.#values = []
    this.#template = new ValuesTemplate(
      flags.map(({ key }) => key),
      this.offsets,
    )
    this.unhashed = [...flags.keys()]
    for (const at of flags.keys()) this.#take(at)
  }

  #take(at: number): void {
    const start = this.offsets[at] ?? 0
    for (const [index, value] of (this.flags[at]?.values ?? []).entries()) {
      this.#values[start + index] = value
    }
  }

  /** All are set, for to set only what differs would be slower: which it is, nobody can foresee. */
  values(codes: Int32Array, start: number): FlagValues {
    return this.#template.fill(this.#values, codes, start)
  }

  json(codes: Int32Array, start: number): string {
    this.#pieces ??= new JsonPieces(this.flags)
    return this.#pieces.join(codes, start)
  }
}

/** undefined: what the flags may serve does not even lie in the same places. */
function changedPositions(
  before: readonly CompiledFlag[],
  flags: readonly CompiledFlag[],
): number[] | undefined {
  if (before.length !== flags.length) return undefined
  const changed: number[] = []
  for (let at = 0; at < flags.length; at += 1) {
    const [old, flag] = [before[at], flags[at]]
    if (old === flag) continue
    if (old?.key !== flag?.key || old?.values.length !== flag?.values.length) return undefined
    changed.push(at)
  }
  return changed
}

/** Where the values of each flag begin, among those of all; then the end. */
export function offsetsOf(flags: readonly CompiledFlag[]): Int32Array {
  const offsets = new Int32Array(flags.length + 1)
  let end = 0
  for (const [at, { values }] of flags.entries()) {
    end += values.length
    offsets[at + 1] = end
  }
  return offsets
}
