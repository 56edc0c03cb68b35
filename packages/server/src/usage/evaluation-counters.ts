import { type CompiledFlag, codeCountOf, type FlagSet, reasonOf, servedBy } from '@ff/core'
import type { Evaluation } from '@ff/core/all-flags'
import type { EvaluationCount, EvaluationSource } from '@ff/storage'

/** The count of one flag under one code. */
export type FlagCount = Omit<EvaluationCount, 'environmentId' | 'minute'>

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
  #flagSet: FlagSet
  /** Where the slots of each flag begin, in the order of the flag set, and where the last ones end. */
  #offsets: Int32Array
  /** By source; made when it is first needed. */
  readonly #bySource = new Map<EvaluationSource, Slots>()
  /**
   * The outcomes that were added last, and how often: equal contexts follow each other. The whole
   * evaluation would keep its context in memory, which may be large.
   */
  #last: Pick<Evaluation, 'flags' | 'codes' | 'start'> | undefined
  #lastSource: EvaluationSource = 'rest'
  #lastMicros = 0
  #lastTimes = 0
  #hasNews = false
  /** The position of each flag; made when some flags are first counted without the others. */
  #positions: ReadonlyMap<CompiledFlag, number> | undefined

  constructor(flagSet: FlagSet) {
    this.#flagSet = flagSet
    this.#offsets = offsetsIn(flagSet)
  }

  get flagSet(): FlagSet {
    return this.#flagSet
  }

  /** Counts every outcome of an evaluation under this flag set. */
  add(evaluation: Evaluation, source: EvaluationSource, micros: number): void {
    const { flags, codes, start } = evaluation
    const last = this.#last
    this.#hasNews = true
    if (codes !== last?.codes || start !== last.start || source !== this.#lastSource) {
      this.#countLast()
      this.#last = { flags, codes, start }
      this.#lastSource = source
      this.#lastMicros = micros
    }
    this.#lastTimes += 1
  }

  /**
   * Replaces the flag set by another version. Flags that are the same in both keep their counts; the
   * counts of the others are taken out and returned.
   */
  moveTo(flagSet: FlagSet): readonly FlagCount[] {
    this.#countLast()
    this.#hasNews = true
    const flags = this.#flagSet.ordered
    const from = this.#offsets
    const offsets = offsetsIn(flagSet)
    const positions = new Map(flagSet.ordered.map((flag, position) => [flag, position]))
    const isInPlace =
      offsets.at(-1) === from.at(-1) &&
      flags.every((flag, index) => offsets[positions.get(flag) ?? index] === from[index])
    const taken: FlagCount[] = []
    for (const [source, slots] of this.#bySource) {
      const moved = isInPlace ? slots : emptySlots(offsets)
      for (const [index, flag] of flags.entries()) {
        const position = positions.get(flag)
        if (position === undefined) {
          taken.push(...this.#take(index, source))
        } else if (!isInPlace) {
          const [start = 0, end] = [from[index], from[index + 1]]
          moved.counts.set(slots.counts.subarray(start, end), offsets[position])
          moved.micros.set(slots.micros.subarray(start, end), offsets[position])
        }
      }
      this.#bySource.set(source, moved)
    }
    this.#flagSet = flagSet
    this.#offsets = offsets
    this.#positions = positions
    return taken
  }

  /** Whether anything was counted, or may have been passed over, since `drain` last began. */
  get hasNews(): boolean {
    return this.#hasNews
  }

  /**
   * Takes out what was counted, flag by flag. What is counted meanwhile, and what passes the place
   * that is being looked at because another version is moved to, is taken out now or the next time.
   */
  *drain(): Generator<FlagCount, void> {
    this.#countLast()
    this.#hasNews = false
    for (const source of this.#bySource.keys()) {
      for (let index = 0; index < this.#flagSet.ordered.length; index += 1) {
        yield* this.#take(index, source)
      }
    }
  }

  /** Takes out what one flag has counted. */
  #take(index: number, source: EvaluationSource): readonly FlagCount[] {
    const flag = this.#flagSet.ordered[index]
    const start = this.#offsets[index] ?? 0
    const end = this.#offsets[index + 1] ?? start
    const { counts, micros } = this.#slotsOf(source)
    const taken: FlagCount[] = []
    for (let slot = start; slot < end; slot += 1) {
      const count = counts[slot] ?? 0
      if (flag === undefined || count === 0) continue
      const variationId = flag.variations[servedBy(slot - start) - 1]?.id ?? null
      taken.push({
        ...{ flagId: flag.definition.id, variationId, reason: reasonOf(slot - start), source },
        ...{ count, micros: Math.round(micros[slot] ?? 0) },
      })
      counts[slot] = 0
      micros[slot] = 0
    }
    return taken
  }

  #countLast(): void {
    if (this.#last === undefined) return
    const { flags, codes, start } = this.#last
    const times = this.#lastTimes
    const offsets = flags === this.#flagSet.ordered ? this.#offsets : this.#offsetsOf(flags)
    const { counts, micros } = this.#slotsOf(this.#lastSource)
    for (let index = 0; index < flags.length; index += 1) {
      const slot = (offsets[index] ?? 0) + (codes[start + index] ?? 0)
      counts[slot] = (counts[slot] ?? 0) + times
      micros[slot] = (micros[slot] ?? 0) + times * this.#lastMicros
    }
    this.#last = undefined
    this.#lastTimes = 0
  }

  #slotsOf(source: EvaluationSource): Slots {
    const known = this.#bySource.get(source)
    if (known !== undefined) return known
    const slots = emptySlots(this.#offsets)
    this.#bySource.set(source, slots)
    return slots
  }

  /** Of some flags of this flag set. */
  #offsetsOf(flags: readonly CompiledFlag[]): Int32Array {
    this.#positions ??= new Map(this.#flagSet.ordered.map((each, position) => [each, position]))
    const positions = this.#positions
    return Int32Array.from(flags, (flag) => this.#offsets[positions.get(flag) ?? 0] ?? 0)
  }
}

function offsetsIn({ ordered }: FlagSet): Int32Array {
  const offsets = new Int32Array(ordered.length + 1)
  for (const [index, flag] of ordered.entries()) {
    offsets[index + 1] = (offsets[index] ?? 0) + codeCountOf(flag)
  }
  return offsets
}

function emptySlots(offsets: Int32Array): Slots {
  const size = offsets.at(-1) ?? 0
  return { counts: new Int32Array(size), micros: new Float64Array(size) }
}
