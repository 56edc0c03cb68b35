import { servedBy } from '../evaluation/outcome.ts'
import type { FlagValue } from '../model/value.ts'

type Values = Record<string, FlagValue>

/** The maximum number of names of a template. Engines store larger objects as dictionaries. */
const MAX_COPIED_NAMES = 1_020

/** The number of fills that vote for the values of the template, out of every `VOTING_PERIOD`. */
const VOTES = 32
const VOTING_PERIOD = 8_192

/**
 * If the votes for the value of a flag lead by less than this share, and there are at most
 * `MAX_ALWAYS_SET` names, the value is always set. Setting the same values in the same order is
 * faster than setting other values each time, because the processor predicts the order.
 */
const MIN_LEAD = 0.4
const MAX_ALWAYS_SET = 512

/**
 * Identical functions that copy an object. V8 caches the hidden classes of copied objects for each
 * function, but only a few. If a function copies objects of more classes, it is many times slower.
 * The number of keys selects the function, so that flag sets with different keys mostly use
 * different functions.
 */
const COPIERS: readonly ((values: Values) => Values)[] = [
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
]

/**
 * The template object, and for each flag the index of its variation plus 1, see `servedBy`, or -1
 * to set the value in any case.
 */
interface Base {
  readonly object: Values
  readonly served: Int32Array
}

/** For each flag, the value that leads the votes, and the number of votes that it leads by. */
interface Votes {
  readonly candidates: Int32Array
  readonly leads: Int32Array
}

/**
 * An object with the most frequent value of each flag. Each evaluation copies it and sets the other
 * values. A copy takes a tenth of the time of setting all values, and most flags serve the same
 * value to most contexts.
 */
export class ValuesTemplate {
  readonly #names: readonly string[]
  readonly #offsets: Int32Array
  readonly #values: readonly FlagValue[]
  /** `undefined` before the first fill, and if there are too many names. */
  #base: Base | undefined
  /** `undefined` unless the next fills vote. */
  #votes: Votes | undefined
  #fills = 0

  /**
   * `names` must be the result of `propertyNames`. `values` are the values of all flags, and
   * `offsets` the index of the first value of each flag.
   */
  constructor(names: readonly string[], offsets: Int32Array, values: readonly FlagValue[]) {
    this.#names = names
    this.#offsets = offsets
    this.#values = values
  }

  /** Returns a template with other values of the flags with the indexes `changed`. */
  withValues(values: readonly FlagValue[], changed: readonly number[]): ValuesTemplate {
    const next = new ValuesTemplate(this.#names, this.#offsets, values)
    if (this.#base === undefined) return next
    const { object, served } = this.#base
    next.#fills = this.#fills
    next.#base = { object: { ...object }, served }
    for (const at of changed) next.#set(next.#base.object, at, Math.max(served[at] ?? 0, 0))
    return next
  }

  /**
   * Returns a new object without a prototype, with a value for each name, for the outcome codes
   * that start at `start`.
   */
  fill(codes: Int32Array, start: number): Values {
    this.#vote(codes, start)
    const base = this.#base
    if (base === undefined) return this.#newValues(codes, start)
    const names = this.#names
    const values = this.#values
    const offsets = this.#offsets
    const { served, object: template } = base
    const copy = COPIERS[names.length % COPIERS.length]
    const object = copy === undefined ? { ...template } : copy(template)
    for (let at = 0; at < names.length; at += 1) {
      const own = servedBy(codes[start + at] ?? 0)
      if (own === served[at]) continue
      object[names[at] ?? ''] = values[(offsets[at] ?? 0) + own] ?? null
    }
    return Object.setPrototypeOf(object, null)
  }

  /** Returns an object that is not copied from a template. */
  #newValues(codes: Int32Array, start: number): Values {
    const values: Values = Object.create(null)
    for (let at = 0; at < this.#names.length; at += 1) {
      this.#set(values, at, servedBy(codes[start + at] ?? 0))
    }
    return values
  }

  #set(object: Values, at: number, served: number): void {
    object[this.#names[at] ?? ''] = this.#values[(this.#offsets[at] ?? 0) + served] ?? null
  }

  /** Counts the values of the first fills of each period, and then renews the template. */
  #vote(codes: Int32Array, start: number): void {
    const number = this.#fills % VOTING_PERIOD
    const { length } = this.#names
    this.#fills += 1
    if (number >= VOTES || length > MAX_COPIED_NAMES) return
    if (number === 0) {
      this.#votes = { candidates: new Int32Array(length), leads: new Int32Array(length) }
    }
    if (this.#votes === undefined) return
    const { candidates, leads } = this.#votes
    for (let at = 0; at < length; at += 1) {
      const own = servedBy(codes[start + at] ?? 0)
      const lead = leads[at] ?? 0
      if (lead === 0) candidates[at] = own
      leads[at] = lead === 0 || candidates[at] === own ? lead + 1 : lead - 1
    }
    if (this.#base !== undefined && number < VOTES - 1) return
    this.#base = this.#baseOf(candidates, leads, number + 1)
    if (number === VOTES - 1) this.#votes = undefined
  }

  #baseOf(candidates: Int32Array, leads: Int32Array, votes: number): Base {
    const object: Values = Object.fromEntries(this.#names.map((name) => [name, null]))
    for (const [at, own] of candidates.entries()) this.#set(object, at, own)
    const minLead = candidates.length <= MAX_ALWAYS_SET ? MIN_LEAD * votes : 0
    const served = candidates.map((own, at) => ((leads[at] ?? 0) < minLead ? -1 : own))
    return { object, served }
  }
}

/** Returns names as internalized strings, which V8 uses as property names without a lookup. */
export function propertyNames(names: readonly string[]): readonly string[] {
  return names.map((name) => Object.keys({ [name]: null })[0] ?? name)
}
