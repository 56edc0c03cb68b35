import type { FlagSet } from '@ff/core'
import { hash128 } from '@ff/core/fingerprint'
import type { FlagSetScope, SdkKeyKind } from '../access/scope.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import type { HyperLogLog } from './hyper-log-log.ts'

/** The number of milliseconds in an hour. */
export const HOUR_MS = 3_600_000

/**
 * The maximum number of sketches of all flags that one environment starts in the first minutes of an
 * hour, and the time after which it can start a further one. A list of flags that changes more often
 * shares a sketch with the previous list.
 */
const SKETCHES_AT_ONCE = 20
const FURTHER_SKETCH_MS = 180_000

/** Versions of a flag set. The users of a sketch have received the flags that all of them contain. */
export interface SketchVersions {
  readonly kind: SdkKeyKind
  readonly first: number
  readonly last: number
}

/** The flag of a sketch. For a sketch of all flags, `null` and the versions of the flag set. */
export type SketchSubject =
  | { readonly flagId: string; versions: null }
  | { readonly flagId: null; versions: SketchVersions }

/** A sketch that counts users. */
export type PendingSketch = SketchSubject & {
  readonly id: string
  readonly environmentId: string
  /** The hour of the sketch, in hours since the epoch. */
  readonly hour: number
  readonly users: HyperLogLog
  /** `true` if the store does not contain all users of the sketch. */
  isChanged: boolean
  writtenAt: number
}

type SketchOfAll = Extract<PendingSketch, { readonly flagId: null }>

/** A flag set that was evaluated as a whole for a kind of SDK key. */
export interface EvaluatedFlagSet extends Pick<FlagSetScope, 'kind'> {
  readonly flagSet: FlagSet
}

/**
 * The sketches of one environment in one hour: one for each flag that is evaluated alone, and one for
 * each list of flags that is evaluated as a whole. Versions with the same flags share a sketch, so
 * that an evaluation of all flags adds its user to one sketch.
 */
export class EnvironmentSketches {
  /** The hour, in hours since the epoch. */
  readonly hour: number
  readonly #create: (subject: SketchSubject) => PendingSketch | undefined
  readonly #byFlag = new Map<string, PendingSketch>()
  /** The sketches of all flags, by the name of their list of flags. */
  readonly #byList = new Map<string, SketchOfAll>()
  /** The sketch of the last evaluation of all flags, by kind of key. */
  readonly #current = new Map<SdkKeyKind, SketchOfAll>()
  /** The number of sketches of all flags that were started in this hour. */
  #started = 0

  /** `create` returns `undefined` if there is no room for another sketch. */
  constructor(hour: number, create: (subject: SketchSubject) => PendingSketch | undefined) {
    this.hour = hour
    this.#create = create
  }

  /** Returns the sketch of a flag that is evaluated alone; `undefined` if there is no room. */
  ofFlag(flagId: string): PendingSketch | undefined {
    const known = this.#byFlag.get(flagId)
    if (known !== undefined) return known
    const created = this.#create({ flagId, versions: null })
    if (created !== undefined) this.#byFlag.set(flagId, created)
    return created
  }

  /** Returns the sketch of all flags of a flag set at `now`; `undefined` if there is no room. */
  ofAll({ kind, flagSet }: EvaluatedFlagSet, now: number): PendingSketch | undefined {
    const { version } = flagSet
    const versions = { kind, first: version, last: version }
    const list = listNameOf(flagSet)
    const sketch = this.#byList.get(list) ?? this.#start(list, versions, now)
    const used = sketch ?? this.#shareCurrent(versions)
    if (used !== undefined) this.#current.set(kind, used)
    return used
  }

  /** Returns the sketch of all flags of a flag set, if it exists and contains no other lists of flags. */
  findAll({ flagSet }: EvaluatedFlagSet): PendingSketch | undefined {
    return this.#byList.get(listNameOf(flagSet))
  }

  /** Returns `true` if the next evaluation may add a user to this sketch. */
  isInUse(sketch: PendingSketch): boolean {
    if (sketch.flagId !== null) return this.#byFlag.get(sketch.flagId) === sketch
    return [...this.#current.values()].includes(sketch)
  }

  /** Removes a sketch. */
  remove(sketch: PendingSketch): void {
    const indexes: readonly Map<string, PendingSketch>[] = [
      this.#byFlag,
      this.#byList,
      this.#current,
    ]
    for (const index of indexes) {
      for (const [name, known] of index) if (known === sketch) index.delete(name)
    }
  }

  #start(list: string, versions: SketchVersions, now: number): SketchOfAll | undefined {
    const allowed = SKETCHES_AT_ONCE + Math.floor((now % HOUR_MS) / FURTHER_SKETCH_MS)
    if (this.#started >= allowed) return undefined
    const created = this.#create({ flagId: null, versions })
    if (created?.flagId !== null) return undefined
    this.#started += 1
    this.#byList.set(list, created)
    return created
  }

  /**
   * Adds versions to the sketch that is in use, preferably with this kind of key. Its users then
   * count only for the flags that no version lacks.
   */
  #shareCurrent({ kind, first, last }: SketchVersions): SketchOfAll | undefined {
    const [other] = this.#current.values()
    const sketch = this.#current.get(kind) ?? other
    if (sketch === undefined) return undefined
    const { versions } = sketch
    const shared: SketchVersions = {
      // Keys of kind `client` receive no flag that keys of kind `server` do not receive.
      kind: versions.kind === kind ? kind : 'client',
      first: Math.min(versions.first, first),
      last: Math.max(versions.last, last),
    }
    const isWider = shared.first < versions.first || shared.last > versions.last
    if (!isWider && shared.kind === versions.kind) return sketch
    sketch.versions = shared
    sketch.isChanged = true
    for (const [list, known] of this.#byList) if (known === sketch) this.#byList.delete(list)
    return sketch
  }
}

/** Returns a name that flag sets with the same flags share. */
function listNameOf(flagSet: FlagSet): string {
  return getOrInsert(listNames, flagSet, () => {
    return hash128(flagSet.ordered.map(({ definition }) => definition.id).join('\n'))
  })
}

const listNames = new WeakMap<FlagSet, string>()
