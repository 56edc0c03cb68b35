import { type CompiledFlag, codeCountOf, type FlagSet, reasonOf, servedBy } from '@ff/core'
import type { Evaluation } from '@ff/core/all-flags'
import type { EvaluationCount, EvaluationSource } from '@ff/storage'
import { getOrInsert } from '../runtime/get-or-insert.ts'

const MINUTE_MS = 60_000
/** The number of minutes in the period of counters that are merged. */
const MERGED_MINUTES = 15

/** A count of this instance. */
export type OwnCount = Omit<EvaluationCount, 'instanceId'>

/** Returns the name of a count, which is unique in its environment. */
export function nameOfCount(count: OwnCount): string {
  const { flagId, minute, variationId, reason, source } = count
  // Unlike a template, `join` creates one flat text, which needs less memory as the key of a map.
  return [flagId, minute, variationId, reason, source].join(' ')
}

/**
 * Functions that return a count with less detail: of a quarter of an hour, without the reason, of the
 * flag in an hour, and in a day. Evaluations with an error stay apart.
 */
export const COARSER_COUNTS: readonly ((count: OwnCount) => OwnCount)[] = [
  (count) => within(count, MERGED_MINUTES),
  (count) => within(withoutReason(count), MERGED_MINUTES),
  (count) => within({ ...withoutReason(count), variationId: null }, 60),
  (count) => within({ ...withoutReason(count), variationId: null }, 24 * 60),
]

function within(count: OwnCount, minutes: number): OwnCount {
  const ms = minutes * MINUTE_MS
  const start = Math.floor(Date.parse(count.minute) / ms) * ms
  return { ...count, minute: new Date(start).toISOString() }
}

function withoutReason(count: OwnCount): OwnCount {
  return { ...count, reason: count.reason === 'ERROR' ? 'ERROR' : 'DEFAULT' }
}

/** Two numbers per slot: the number of evaluations, and their total duration. */
interface Slots {
  readonly counts: Int32Array
  readonly micros: Float64Array
}

/**
 * Counts the outcomes of one flag set in one minute, or in a quarter of an hour after `absorb`. Each
 * outcome code of each flag has a slot in an array, so that counting an evaluation consists only of
 * additions to arrays.
 */
export class EvaluationCounters {
  /** The flag set of the outcomes. */
  readonly flagSet: FlagSet
  #minute: number
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
  /** The number of calls that added counts, and this number when `drain` last yielded all counts. */
  #additions = 0
  #drainedAdditions = 0
  /**
   * The position of each flag. The map is created when an evaluation does not contain all flags.
   */
  #positions: ReadonlyMap<CompiledFlag, number> | undefined

  constructor(flagSet: FlagSet, now: number) {
    this.flagSet = flagSet
    this.#minute = minuteOf(now)
    this.#offsets = offsetsIn(flagSet)
  }

  /** The start of the period in which outcomes are counted, in minutes since the epoch. */
  get minute(): number {
    return this.#minute
  }

  /**
   * Takes the counts of later counters of the same flag set and of the same quarter of an hour, whose
   * start is then the time of all counts. Returns `false`, and takes nothing, for other counters.
   */
  absorb(later: EvaluationCounters): boolean {
    const start = quarterOf(this.#minute)
    if (later.flagSet !== this.flagSet || quarterOf(later.minute) !== start) return false
    this.#countLast()
    later.#countLast()
    for (const [source, { counts, micros }] of later.#bySource) {
      const own = this.#slotsOf(source)
      for (let slot = 0; slot < counts.length; slot += 1) {
        own.counts[slot] = (own.counts[slot] ?? 0) + (counts[slot] ?? 0)
        own.micros[slot] = (own.micros[slot] ?? 0) + (micros[slot] ?? 0)
      }
      counts.fill(0)
      micros.fill(0)
    }
    this.#minute = start
    this.#additions += 1
    return true
  }

  /** Counts every outcome of an evaluation with this flag set. */
  add(evaluation: Evaluation, source: EvaluationSource, micros: number): void {
    const { flags, codes, start } = evaluation
    const last = this.#last
    this.#additions += 1
    if (codes !== last?.codes || start !== last.start || source !== this.#lastSource) {
      this.#countLast()
      this.#last = { flags, codes, start }
      this.#lastSource = source
      this.#lastMicros = micros
    }
    this.#lastTimes += 1
  }

  /** `true` if `drain` has not yielded all counts. */
  get hasNews(): boolean {
    return this.#additions > this.#drainedAdditions
  }

  /**
   * Removes and yields the counts, flag by flag. Counts that are added during the iteration are
   * yielded in this call or the next one, and so are the counts after an iteration that ends early.
   */
  *drain(environmentId: string): Generator<OwnCount, void> {
    const additions = this.#additions
    this.#countLast()
    yield* this.#take(environmentId)
    this.#drainedAdditions = additions
  }

  *#take(environmentId: string): Generator<OwnCount, void> {
    const minute = new Date(this.#minute * MINUTE_MS).toISOString()
    for (const [source, { counts, micros }] of this.#bySource) {
      for (const [index, flag] of this.flagSet.ordered.entries()) {
        const flagId = flag.definition.id
        const start = this.#offsets[index] ?? 0
        const end = this.#offsets[index + 1] ?? start
        for (let slot = start; slot < end; slot += 1) {
          const count = counts[slot] ?? 0
          if (count === 0) continue
          const time = Math.round(micros[slot] ?? 0)
          counts[slot] = micros[slot] = 0
          yield {
            environmentId,
            flagId,
            minute,
            variationId: flag.variations[servedBy(slot - start) - 1]?.id ?? null,
            reason: reasonOf(slot - start),
            source,
            count,
            micros: time,
          }
        }
      }
    }
  }

  #countLast(): void {
    if (this.#last === undefined) return
    const { flags, codes, start } = this.#last
    const times = this.#lastTimes
    const isWhole = flags.length === this.flagSet.ordered.length
    const positions = isWhole ? undefined : this.#positionsOfFlags()
    const { counts, micros } = this.#slotsOf(this.#lastSource)
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

  #slotsOf(source: EvaluationSource): Slots {
    return getOrInsert(this.#bySource, source, () => emptySlots(this.#offsets))
  }

  #positionsOfFlags(): ReadonlyMap<CompiledFlag, number> {
    this.#positions ??= new Map(this.flagSet.ordered.map((each, position) => [each, position]))
    return this.#positions
  }
}

/** Returns the start of the quarter of an hour that contains a minute. */
function quarterOf(minute: number): number {
  return minute - (minute % MERGED_MINUTES)
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
