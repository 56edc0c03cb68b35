import { type CompiledFlag, codeCountOf, type FlagSet, reasonOf, servedBy } from '@ff/core'
import type { Evaluation } from '@ff/core/all-flags'
import type { EvaluationCount, EvaluationSource } from '@ff/storage'

const SOURCES: readonly EvaluationSource[] = ['rest', 'poll', 'ws', 'sdk']

/** Two numbers for each slot: how often, and how long it took together. */
interface Slots {
  readonly counts: Int32Array
  readonly micros: Float64Array
}

/**
 * Counts the outcomes of one flag set: a slot for each code of each flag, laid out flag by
 * flag, so that counting an evaluation is nothing but additions to arrays.
 */
export class EvaluationCounters {
  readonly flagSet: FlagSet
  /** Where the slots of each flag begin, in the order of `flagSet.ordered`. */
  readonly #offsets: Int32Array
  readonly #size: number
  /** By source; made when it is first needed. */
  readonly #bySource = new Map<EvaluationSource, Slots>()
  /** The position of each flag; made when some flags are first counted without the others. */
  #positions: ReadonlyMap<CompiledFlag, number> | undefined

  constructor(flagSet: FlagSet) {
    this.flagSet = flagSet
    this.#offsets = new Int32Array(flagSet.ordered.length)
    let size = 0
    for (const [position, flag] of flagSet.ordered.entries()) {
      this.#offsets[position] = size
      size += codeCountOf(flag)
    }
    this.#size = size
  }

  /** Counts every answer of an evaluation under this flag set. */
  add({ flags, codes, start }: Evaluation, source: EvaluationSource, micros: number): void {
    const offsets = flags === this.flagSet.ordered ? this.#offsets : this.#offsetsOf(flags)
    const { counts, micros: times } = this.#slotsOf(source)
    for (let index = 0; index < flags.length; index += 1) {
      const slot = (offsets[index] ?? 0) + (codes[start + index] ?? 0)
      counts[slot] = (counts[slot] ?? 0) + 1
      times[slot] = (times[slot] ?? 0) + micros
    }
  }

  /** Hands over what was counted since the last time, and begins anew. */
  drain(to: (count: Omit<EvaluationCount, 'environmentId' | 'minute'>) => void): void {
    for (const source of SOURCES) {
      const slots = this.#bySource.get(source)
      if (slots === undefined) continue
      for (const [position, flag] of this.flagSet.ordered.entries()) {
        const offset = this.#offsets[position] ?? 0
        const { id: flagId } = flag.definition
        for (let code = 0; code < codeCountOf(flag); code += 1) {
          const count = slots.counts[offset + code] ?? 0
          if (count === 0) continue
          const micros = Math.round(slots.micros[offset + code] ?? 0)
          const variationId = flag.variations[servedBy(code) - 1]?.id ?? null
          to({ flagId, variationId, reason: reasonOf(code), source, count, micros })
        }
      }
      slots.counts.fill(0)
      slots.micros.fill(0)
    }
  }

  #slotsOf(source: EvaluationSource): Slots {
    const known = this.#bySource.get(source)
    if (known !== undefined) return known
    const slots = {
      counts: new Int32Array(this.#size),
      micros: new Float64Array(this.#size),
    }
    this.#bySource.set(source, slots)
    return slots
  }

  /** Of some flags of this flag set. */
  #offsetsOf(flags: readonly CompiledFlag[]): Int32Array {
    this.#positions ??= new Map(this.flagSet.ordered.map((each, position) => [each, position]))
    const positions = this.#positions
    return Int32Array.from(flags, (flag) => this.#offsets[positions.get(flag) ?? 0] ?? 0)
  }
}
