import type { CompiledFlag } from '../evaluation/flag.ts'
import type { FlagValue, FlagValues } from '../model/value.ts'
import { JsonPieces } from './json-pieces.ts'
import { propertyNames, ValuesTemplate } from './values-template.ts'

/**
 * Converts the outcome codes of all flags of a flag set to values and JSON text. The values of all
 * flags are in one array, so that no flag has to be looked up.
 */
export class FlagSetView {
  readonly flags: readonly CompiledFlag[]
  /** See `offsetsOf`. */
  readonly offsets: Int32Array
  readonly #values: FlagValue[]
  readonly #template: ValuesTemplate
  /** The pieces of the JSON text. `undefined` before the first JSON text is requested. */
  #pieces: JsonPieces | undefined
  /** The four words of the hash of each member. `undefined` before the first `valuesHash`. */
  hashes: Int32Array | undefined
  /** The indexes of the flags that have no hashes yet. */
  unhashed: number[]

  /**
   * Copies the unchanged parts of `before` if it is defined, which is faster than creating them.
   */
  constructor(flags: readonly CompiledFlag[], before: FlagSetView | undefined) {
    this.flags = flags
    const changed = before && changedPositions(before.flags, flags)
    if (before !== undefined && changed !== undefined) {
      this.offsets = before.offsets
      this.#values = before.#values.slice()
      this.hashes = before.hashes?.slice()
      this.unhashed = [...before.unhashed, ...changed]
      for (const at of changed) this.#take(at)
      this.#template = before.#template.withValues(this.#values, changed)
      return
    }
    this.offsets = offsetsOf(flags)
    this.#values = []
    this.unhashed = [...flags.keys()]
    for (const at of flags.keys()) this.#take(at)
    const names = propertyNames(flags.map(({ key }) => key))
    this.#template = new ValuesTemplate(names, this.offsets, this.#values)
  }

  #take(at: number): void {
    const start = this.offsets[at] ?? 0
    for (const [index, value] of (this.flags[at]?.values ?? []).entries()) {
      this.#values[start + index] = value
    }
  }

  /** Returns the values by flag key, for the codes that start at `start`. */
  values(codes: Int32Array, start: number): FlagValues {
    return this.#template.fill(codes, start)
  }

  /** Returns the JSON text of the object that `values` returns. */
  json(codes: Int32Array, start: number): string {
    this.#pieces ??= new JsonPieces(this.flags)
    return this.#pieces.join(codes, start)
  }
}

/**
 * Returns the indexes of the changed flags, or `undefined` if the keys or the numbers of values
 * differ.
 */
function changedPositions(
  before: readonly CompiledFlag[],
  flags: readonly CompiledFlag[],
): number[] | undefined {
  if (before.length !== flags.length) return undefined
  const changed: number[] = []
  for (const [at, flag] of flags.entries()) {
    const old = before[at]
    if (old === flag) continue
    if (old?.key !== flag.key || old.values.length !== flag.values.length) return undefined
    changed.push(at)
  }
  return changed
}

/**
 * Returns, for each flag, the index of its first value among the values of all flags. The last
 * element is the total number of values.
 */
export function offsetsOf(flags: readonly CompiledFlag[]): Int32Array {
  const offsets = new Int32Array(flags.length + 1)
  let end = 0
  for (const [at, { values }] of flags.entries()) {
    end += values.length
    offsets[at + 1] = end
  }
  return offsets
}
