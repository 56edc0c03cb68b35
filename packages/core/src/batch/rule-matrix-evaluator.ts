import { getOrMake } from '../model/get-or-make.ts'
import { has, lowestBit } from './bit-set.ts'
import { BucketingKey } from './bucketing-key.ts'
import { codeIn, NOTHING, PHASE } from './outcome-table.ts'
import { RowMatcher, type RuleScope } from './row-matcher.ts'
import type { RuleMatrix, Shard } from './rule-matrix.ts'

const NO_CODES: Int32Array = new Int32Array(0)

/** Evaluates all flags of a rule matrix. Every evaluation reuses the same scratch memory. */
export class RuleMatrixEvaluator {
  readonly #matrix: RuleMatrix
  readonly #matcher: RowMatcher
  /** The outcome codes of the current evaluation, which start at the index `#from`. */
  #codes: Int32Array = NO_CODES
  #from = 0
  /**
   * Two numbers for each flag that has no outcome code yet: its offset in `Shard.flags` and a rule
   * row.
   */
  readonly #waiting: Int32Array
  /** The hash states of the rollouts that the flags in `#waiting` wait for. */
  readonly #states: Int32Array
  /** The bucketing keys by the index of their source. */
  readonly #keys = new Map<number, BucketingKey>()

  constructor(matrix: RuleMatrix) {
    const flags = Math.max(0, ...matrix.shards.map((shard) => shard.flags.length / 4))
    this.#matrix = matrix
    this.#matcher = new RowMatcher(matrix)
    // Has room for one more flag, because `#takeFirst` also writes flags that it does not add.
    this.#waiting = new Int32Array(2 * (flags + 1))
    this.#states = new Int32Array(flags + 4)
  }

  /** Writes the outcome codes of all flags to `codes`, starting at the index `from`. */
  evaluate(scope: RuleScope, codes: Int32Array, from: number): void {
    this.#matcher.scope = scope
    this.#codes = codes
    this.#from = from
    for (const shard of this.#matrix.shards) {
      this.#matcher.match(shard)
      this.#serve(shard)
    }
    this.#matcher.reset()
    this.#codes = NO_CODES
  }

  /** Writes the code of the first target or rule of each flag that serves a variation. */
  #serve(shard: Shard): void {
    const { flags, group, oneWord } = shard
    const { entries, schedule } = group.table
    const count = this.#takeFirst(shard)
    for (const slot of shard.bucketingSlots) this.#matcher.valueAt(slot)
    // From here on, no getter in the context is called before all buckets have been used.
    schedule.resolve(entries, this.#matcher.scope.now)
    let left = 0
    for (let start = 0; start < count; ) {
      const phase = this.#phaseAt(start, entries)
      let end = start + 1
      while (end < count && this.#phaseAt(end, entries) === phase) end += 1
      left = this.#takePhase(shard, start, end, left)
      start = end
    }
    for (let index = 0; index < left; index += 1) {
      const flag = this.#waiting[2 * index] ?? 0
      this.#takeRest(shard, flag, this.#waiting[2 * index + 1] ?? 0)
    }
    for (let flag = oneWord; flag < flags.length; flag += 4) {
      this.#takeRest(shard, flag, flags[flag] ?? 0)
    }
  }

  /**
   * Writes the entry of each flag's first rule row that matches, for flags with all rows in one
   * word. If the entry is not a code, the flag is added to `#waiting`, without a branch that the
   * CPU could not predict. Returns the number of flags in `#waiting`.
   */
  #takeFirst({ group, flags, oneWord }: Shard): number {
    const { entries } = group.table
    const codes = this.#codes
    const from = this.#from
    const rows = this.#matcher.rows
    const waiting = this.#waiting
    let count = 0
    for (let flag = 0; flag < oneWord; flag += 4) {
      const word = (flags[flag] ?? 0) >>> 5
      const bits = (rows[word] ?? 0) & (flags[flag + 2] ?? 0)
      if (bits === 0) continue
      const row = 32 * word + lowestBit(bits)
      const entry = entries[row] ?? 0
      codes[from + (flags[flag + 3] ?? 0)] = entry
      waiting[2 * count] = flag
      waiting[2 * count + 1] = row
      count += entry >>> 31
    }
    return count
  }

  /** Returns the phase of the rollout that the flag with this index in `#waiting` waits for. */
  #phaseAt(index: number, entries: Int32Array): number {
    return entries[~(entries[this.#waiting[2 * index + 1] ?? 0] ?? 0) + PHASE] ?? 0
  }

  /**
   * Writes the codes of the flags in `#waiting` from `start` to `end`, whose rollouts have the same
   * phase. A flag that has no code yet is moved to the beginning of `#waiting`, with the rule row
   * to continue with. `before` flags have been moved. Returns the number of the moved flags.
   */
  #takePhase(
    { group, flags, bucketingSlots }: Shard,
    start: number,
    end: number,
    before: number,
  ): number {
    const { entries } = group.table
    const codes = this.#codes
    const from = this.#from
    const phase = this.#phaseAt(start, entries)
    const waiting = this.#waiting
    const states = this.#states
    const slot = bucketingSlots[phase >> 2]
    const key = phase < 0 || slot === undefined ? undefined : this.#keyAt(slot)
    const isHashed = key?.isMixed === true
    if (isHashed) {
      key.align(phase & 3)
      for (let index = start; index < end; index += 1) {
        const place = ~(entries[waiting[2 * index + 1] ?? 0] ?? 0)
        states[index] = key.mixRest(entries[place] ?? 0, entries[place + 2] ?? 0)
      }
      key.mixBlocks(states, start, end)
    }
    // A flag whose rollout serves nothing continues with its next row.
    const step = isHashed || (phase >= 0 && key === undefined) ? 1 : 0
    let left = before
    // V8 inlines the calls in this loop. The literal -1 means `NOTHING`, because V8 does not inline
    // constants of modules.
    for (let index = start; index < end; index += 1) {
      const flag = waiting[2 * index] ?? 0
      const row = waiting[2 * index + 1] ?? 0
      let code = -1
      if (isHashed) {
        const place = ~(entries[row] ?? 0)
        const bucket = key.bucketFor(states[index] ?? 0, entries[place + 3] ?? 0)
        code = codeIn(entries, place, bucket)
      }
      codes[from + (flags[flag + 3] ?? 0)] = code
      waiting[2 * left] = flag
      waiting[2 * left + 1] = row + step
      left += code >>> 31
    }
    return left
  }

  /** Writes the code of a flag, beginning with the rule row `start`. */
  #takeRest(shard: Shard, flag: number, start: number): void {
    const position = shard.flags[flag + 3] ?? 0
    const served = this.#firstServed(shard, start, shard.flags[flag + 1] ?? 0)
    const code = served === NOTHING ? this.#matrix.initial[position] : served
    this.#codes[this.#from + position] = code ?? 0
  }

  /** Returns the bucketing key of a source, or `undefined` if it is missing. */
  #keyAt(slot: number): BucketingKey | undefined {
    const text = this.#matcher.valueAt(slot)
    if (typeof text !== 'string') return undefined
    const key = getOrMake(this.#keys, slot, newKey)
    key.read(text)
    return key
  }

  /**
   * Returns the code of the first rule row that matches and serves a variation, or `NOTHING`. The
   * rule rows start at `start` and end before `end`.
   */
  #firstServed({ group, bucketingSlots }: Shard, start: number, end: number): number {
    const { entries } = group.table
    const matcher = this.#matcher
    const { rows } = matcher
    for (let row = start; row < end; row += 1) {
      if (!has(rows, row)) continue
      const entry = entries[row] ?? 0
      if (entry >= 0) return entry
      const slot = bucketingSlots[(entries[~entry + PHASE] ?? 0) >> 2]
      if (slot !== undefined && matcher.valueAt(slot) === undefined) continue
      const serve = group.serves[row]
      const outcome = serve && matcher.scope.follow(serve)
      if (outcome !== undefined) return outcome.code
    }
    return NOTHING
  }
}

function newKey(): BucketingKey {
  return new BucketingKey()
}
