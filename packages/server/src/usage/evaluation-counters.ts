import { type CompiledFlag, codeCountOf, type FlagSet, reasonOf, servedBy } from '@ff/core'
import type { Evaluation } from '@ff/core/all-flags'
import type { EvaluationCount, EvaluationSource } from '@ff/storage'
import { getOrInsert } from '../runtime/get-or-insert.ts'

const MINUTE_MS = 60_000

/** A count of this instance. */
export type OwnCount = Omit<EvaluationCount, 'instanceId'>

/** Two numbers per slot: the number of evaluations, and their total duration. */
interface Slots {
  readonly counts: Int32Array
  readonly micros: Float64Array
}

/**
 * Counts the outcomes of one flag set in one minute. Each outcome code of each flag has a slot in
 * an array, so that counting an evaluation consists only of additions to arrays.
 */
export class EvaluationCounters {
  /** The flag set of the outcomes. */
  readonly flagSet: FlagSet
  /** The minute in which outcomes are counted, in minutes since the epoch. */
  readonly minute: number
  /**
   * The index of the first slot of each flag, in the order of the flag set, and the total number of
   * slots.
   */
  readonly #offsets: Int32Array
  /** The slots of each source, which are created when the source is counted for the first time. */
  readonly #bySource = new Map<EvaluationSource, Slots>()
  /**
   * The outcomes that were added last. They are counted together with equal outcomes that follow,
   * because equal contexts often follow each other. The whole evaluation is not stored, because it
   * refers to its context, which may be large.
   */
  #last: Pick<Evaluation, 'flags' | 'codes' | 'start'> | undefined
  #lastSource: EvaluationSource = 'rest'
  #lastMicros = 0
  #lastTimes = 0
  #hasNews = false
  /**
   * The position of each flag. The map is created when an evaluation does not contain all flags.
   */
  #positions: ReadonlyMap<CompiledFlag, number> | undefined

  constructor(flagSet: FlagSet, now: number) {
    this.flagSet = flagSet
    this.minute = minuteOf(now)
    this.#offsets = offsetsIn(flagSet)
  }

  /** Counts every outcome of an evaluation with this flag set. */
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

  /** `true` if anything was counted since the last call of `drain`. */
  get hasNews(): boolean {
    return this.#hasNews
  }

  /**
   * Removes and yields the counts, flag by flag. Counts that are added during the iteration are
   * yielded in this call or the next one.
   */
  *drain(environmentId: string): Generator<OwnCount, void> {
    this.#countLast()
    this.#hasNews = false
    const minute = new Date(this.minute * MINUTE_MS).toISOString()
    for (const [source, { counts, micros }] of this.#bySource) {
      for (const [index, flag] of this.flagSet.ordered.entries()) {
        const flagId = flag.definition.id
        const start = this.#offsets[index] ?? 0
        const end = this.#offsets[index + 1] ?? start
        for (let slot = start; slot < end; slot += 1) {
          const count = counts[slot] ?? 0
          if (count === 0) continue
          const taken = { count, micros: Math.round(micros[slot] ?? 0) }
          counts[slot] = micros[slot] = 0
          const variationId = flag.variations[servedBy(slot - start) - 1]?.id ?? null
          const reason = reasonOf(slot - start)
          yield { environmentId, flagId, minute, variationId, reason, source, ...taken }
        }
      }
    }
  }

  #countLast(): void {
    if (this.#last === undefined) return
    const { flags, codes, start } = this.#last
    const times = this.#lastTimes
    const isWhole = flags === this.flagSet.ordered
    const positions = isWhole ? undefined : this.#positionsOfFlags()
    const { counts, micros } = getOrInsert(this.#bySource, this.#lastSource, () =>
      emptySlots(this.#offsets),
    )
    for (let index = 0; index < flags.length; index += 1) {
      const flag = flags[index]
      const position = flag && positions ? (positions.get(flag) ?? 0) : index
      const slot = (this.#offsets[position] ?? 0) + (codes[start + index] ?? 0)
      counts[slot] = (counts[slot] ?? 0) + times
      micros[slot] = (micros[slot] ?? 0) + times * this.#lastMicros
    }
    this.#last = undefined
    this.#lastTimes = 0
  }

  #positionsOfFlags(): ReadonlyMap<CompiledFlag, number> {
    this.#positions ??= new Map(this.flagSet.ordered.map((each, position) => [each, position]))
    return this.#positions
  }
}

/** Converts epoch milliseconds to whole minutes since the epoch. */
export function minuteOf(now: number): number {
  return Math.floor(now / MINUTE_MS)
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
