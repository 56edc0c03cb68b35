import { type CompiledFlag, codeCountOf, type FlagSet, reasonOf, servedBy } from '@ff/core'
import type { Evaluation } from '@ff/core/all-flags'
import type { EvaluationCount, EvaluationSource } from '@ff/storage'
import { getOrInsert } from '../runtime/get-or-insert.ts'

const MINUTE_MS = 60_000

/** Two numbers for each slot: how often, and how long it took together. */
interface Slots {
  readonly counts: Int32Array
  readonly micros: Float64Array
}

/**
 * Counts the outcomes of one flag set in one minute: a slot for each code of each flag, laid out flag
 * by flag, so that counting an evaluation is nothing but additions to arrays.
 */
export class EvaluationCounters {
  readonly flagSet: FlagSet
  /** Since the epoch. */
  readonly minute: number
  /** Where the slots of each flag begin, in the order of the flag set, and where the last ones end. */
  readonly #offsets: Int32Array
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

  constructor(flagSet: FlagSet, now: number) {
    this.flagSet = flagSet
    this.minute = minuteOf(now)
    this.#offsets = offsetsIn(flagSet)
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

  /** Whether anything was counted since `drain` last began. */
  get hasNews(): boolean {
    return this.#hasNews
  }

  /** Takes out the counts, flag by flag. Later counts are taken out now or the next time. */
  *drain(environmentId: string): Generator<EvaluationCount, void> {
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
    const offsets = flags === this.flagSet.ordered ? this.#offsets : this.#offsetsOf(flags)
    const { counts, micros } = getOrInsert(this.#bySource, this.#lastSource, () =>
      emptySlots(this.#offsets),
    )
    for (let index = 0; index < flags.length; index += 1) {
      const slot = (offsets[index] ?? 0) + (codes[start + index] ?? 0)
      counts[slot] = (counts[slot] ?? 0) + times
      micros[slot] = (micros[slot] ?? 0) + times * this.#lastMicros
    }
    this.#last = undefined
    this.#lastTimes = 0
  }

  /** Of some flags of this flag set. */
  #offsetsOf(flags: readonly CompiledFlag[]): Int32Array {
    this.#positions ??= new Map(this.flagSet.ordered.map((each, position) => [each, position]))
    const positions = this.#positions
    return Int32Array.from(flags, (flag) => this.#offsets[positions.get(flag) ?? 0] ?? 0)
  }
}

/** Returns the minute of a time in epoch milliseconds, since the epoch. */
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
