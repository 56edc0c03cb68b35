import {
  compileIncrementally,
  FlagError,
  type FlagSetDefinition,
  isFlagError,
  prepareDefinitions,
} from '@ff/core'
import { clientView, prepareIncrementally } from '@ff/core/all-flags'
import { findErrors } from '@ff/core/authoring'
import { type DefinitionDelta, mergeChanges } from '@ff/core/changes'
import type { Storage } from '@ff/storage'
import { SDK_KEY_KINDS } from '../access/scope.ts'
import { type Clock, within } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import { runInTimeSlices } from '../runtime/time-slice.ts'
import { SavedFlagSets } from '../snapshots/saved-flag-sets.ts'
import type { SavedState } from '../snapshots/saved-state.ts'
import { estimateBytes } from './flag-set-bytes.ts'
import { type FlagSetEntry, renewSampling } from './flag-set-entry.ts'
import type { FlagSetPreparation, FlagSetSwap } from './flag-set-swap.ts'
import { LoadQueue } from './load-queue.ts'
import { SharedCompiler } from './shared-compiler.ts'
import { assertNoNewFaults, assertValidDefinition } from './valid-definition.ts'

/** A function that is called after the flag sets of an entry were loaded. */
type EntryListener = (entry: FlagSetEntry, swap: FlagSetSwap) => void

/** A version that was read from the store. */
interface ReadVersion {
  readonly definition: FlagSetDefinition
  /** The changes since the cached version; absent if the whole flag set was read. */
  readonly delta?: DefinitionDelta
  /** When the flag set was saved, in epoch milliseconds; absent if it was read from the store. */
  readonly savedAt?: number
}

/**
 * Limits on the time that is spent on loading versions of an environment, so that many changes in a
 * row do not block evaluations: the maximum share of time, the loading time without a pause before
 * this share applies, and the longest pause.
 */
const BUSY_SHARE = 0.02
const BUSY_AT_A_STRETCH_MS = 250
const LONGEST_REST_MS = 500

/**
 * The minimum time between reads of the sampling settings; less than the interval of the periodic
 * checks.
 */
const SETTINGS_EVERY_MS = 4000

/** The time for which the first read of an environment waits for the store if it is saved. */
const FIRST_READ_WITHIN_MS = 500

/**
 * The number of flags from which the evaluation of all flags together is prepared before the first
 * one. With fewer flags, the first evaluations take less time than the preparation.
 */
const ALWAYS_PREPARED = 500

/** The share of the memory that a flag set needs before this preparation. */
const UNPREPARED_SHARE = 0.8

/** The maximum number of environments that are loaded for the first time at the same time. */
const FIRST_LOADS = 8

const NOT_UPDATED = 'A flag set could not be updated; the last valid version is kept'

/** The parts that a loader needs. */
export interface FlagSetLoaderOptions {
  readonly storage: Storage
  /** Contains the flag sets that are used while the store is unavailable. */
  readonly saved: SavedState
  readonly logger: Logger
  readonly clock: Clock
}

/** Loads new versions of flag sets into the entries of the cache, prepared and as a whole. */
export class FlagSetLoader {
  readonly #storage: Storage
  readonly #saved: SavedFlagSets
  readonly #logger: Logger
  readonly #clock: Clock
  /** Called after each loaded version. */
  listener: EntryListener = () => undefined
  /** The work that is done before each loaded version replaces the previous one. */
  preparation: FlagSetPreparation | undefined
  #swaps = 0
  #firstLoads = 0
  readonly #queue = new LoadQueue(FIRST_LOADS)
  readonly #compiler = new SharedCompiler()
  /** `true` after a first read to which the store did not respond in time, until it responds. */
  #isSilent = false

  constructor({ storage, saved, logger, clock }: FlagSetLoaderOptions) {
    this.#storage = storage
    this.#saved = new SavedFlagSets(saved)
    this.#logger = logger
    this.#clock = clock
  }

  /** The number of versions that were loaded since the start. */
  get swaps(): number {
    return this.#swaps
  }

  /** The number of environments that were loaded without an earlier version in memory. */
  get firstLoads(): number {
    return this.#firstLoads
  }

  /** Loads an entry for the first time, after others if many are being loaded. */
  load(entry: FlagSetEntry): Promise<void> {
    const load = () => entry.refresh.run()
    return this.#isSilent ? load() : this.#queue.run(entry.organizationId, load)
  }

  /**
   * Reads the store: the whole flag set the first time, only the changes afterwards. Throws
   * `NOT_FOUND` if the environment does not exist, and `UNAVAILABLE` if loading fails.
   */
  async update(entry: FlagSetEntry): Promise<void> {
    await this.#rest(entry)
    const checkedAt = this.#clock.now()
    try {
      const settings = this.#readSettings(entry, checkedAt)
      // Both reads can fail, and the settings are needed last.
      settings.catch(() => undefined)
      const read = await this.#read(entry)
      if (read !== undefined) {
        const begunAt = this.#clock.now()
        await this.#swap(entry, read)
        entry.busyMs += Math.max(0, this.#clock.now() - begunAt)
      }
      if (read?.savedAt !== undefined) return
      await settings
      this.confirm(entry, checkedAt)
    } catch (error) {
      if (isFlagError(error) && error.code === 'NOT_FOUND') throw error
      this.report(entry, error)
      throw new FlagError('UNAVAILABLE', 'The flags cannot be read at the moment.', {
        cause: error,
      })
    }
  }

  /** Prepares the evaluation of all flags together, now and in later versions. */
  async prepare(entry: FlagSetEntry): Promise<void> {
    const { flagSets } = entry
    if (entry.isPrepared || flagSets === undefined) return
    entry.isPrepared = true
    for (const kind of SDK_KEY_KINDS) await runInTimeSlices(prepareIncrementally(flagSets[kind]))
    if (entry.flagSets === flagSets) entry.bytes = Math.round(entry.bytes / UNPREPARED_SHARE)
  }

  /** Notes that the store had no newer version at a time. */
  confirm(entry: FlagSetEntry, checkedAt: number): void {
    const { environmentId, failure } = entry
    this.#isSilent = false
    entry.checkedAt = Math.max(entry.checkedAt, checkedAt)
    entry.failure = undefined
    entry.isSaved = false
    this.#saved.confirm(environmentId)
    if (failure !== undefined) {
      this.#logger.info('A flag set is up to date again', { environmentId })
    }
  }

  /** Returns the pause before the next load, in milliseconds: 0 except after much loading. */
  restMs(entry: FlagSetEntry): number {
    const now = this.#clock.now()
    entry.busyMs = Math.max(0, entry.busyMs - Math.max(0, now - entry.busyAt) * BUSY_SHARE)
    entry.busyAt = now
    const restMs = (entry.busyMs - BUSY_AT_A_STRETCH_MS) / BUSY_SHARE
    return Math.max(0, Math.min(LONGEST_REST_MS, restMs))
  }

  /** Pauses after much loading. Changes that arrive during the pause are loaded together. */
  async #rest(entry: FlagSetEntry): Promise<void> {
    const restMs = this.restMs(entry)
    if (restMs === 0) return
    await new Promise<void>((resolve) => {
      this.#clock.schedule(restMs, resolve)
    })
  }

  async #read(entry: FlagSetEntry): Promise<ReadVersion | undefined> {
    const { environmentId, isSaved } = entry
    const flagSet = entry.flagSets?.server
    if (flagSet === undefined) return this.#readFirst(entry)
    // A backup of the store can have been restored after the flag set was saved.
    if (isSaved) return this.#readWhole(environmentId)
    const delta = await this.#storage.loadChanges(environmentId, flagSet.version)
    if (delta.version <= flagSet.version) return undefined
    return { definition: mergeChanges(flagSet.definition, delta), delta }
  }

  /** Reads the whole flag set; the saved one if the store fails or does not respond soon. */
  async #readFirst(entry: FlagSetEntry): Promise<ReadVersion> {
    const { environmentId } = entry
    const reading = this.#readWhole(environmentId)
    const ms = this.#isSilent ? 0 : FIRST_READ_WITHIN_MS
    const read = await within(reading, { clock: this.#clock, ms }).catch((error: unknown) => {
      if (isFlagError(error) && error.code === 'NOT_FOUND') throw error
    })
    this.#isSilent = read === undefined
    if (read !== undefined) return read
    // What waits for the store needs no memory, and must not wait for each other in addition.
    this.#queue.startAll()
    const saved = await this.#saved.load(environmentId)
    if (saved === undefined) return reading
    reading.then(() => entry.refresh.run()).catch(() => undefined)
    entry.isSaved = true
    entry.checkedAt = saved.confirmedAt
    this.report(entry, storeSilent(), 'The store is unavailable; a saved flag set is used')
    return { definition: saved.value, savedAt: saved.confirmedAt }
  }

  async #readWhole(environmentId: string): Promise<ReadVersion> {
    const definition = await this.#storage.loadFlagSet(environmentId)
    return { definition: definition ?? (await this.#unpublished(environmentId)) }
  }

  /** Reads the settings of sampling. A deleted environment keeps its last settings. */
  async #readSettings(entry: FlagSetEntry, now: number): Promise<void> {
    if (Math.abs(now - entry.settingsReadAt) < SETTINGS_EVERY_MS) return
    const environment = await this.#storage.find('environment', entry.environmentId)
    entry.settingsReadAt = now
    if (environment === undefined) return
    const { contextPrivacy: privacy, keptAttributes, revision: settingsRevision } = environment
    entry.settings = { privacy, keptAttributes, settingsRevision }
    renewSampling(entry)
  }

  async #unpublished(environmentId: string): Promise<FlagSetDefinition> {
    if ((await this.#storage.find('environment', environmentId)) === undefined) throw noFlagSet()
    return { version: 0, flags: [], segments: [] }
  }

  /** Prepares the new version completely before it replaces the old one. */
  async #swap(entry: FlagSetEntry, { definition, delta, savedAt }: ReadVersion): Promise<void> {
    const { environmentId, flagSets } = entry
    const before = flagSets?.server
    if (before === undefined) this.#firstLoads += 1
    await runInTimeSlices(assertValidDefinition(definition, before?.definition))
    const after = await runInTimeSlices(
      compileIncrementally(definition, { previous: before, compiler: this.#compiler.current }),
    )
    const fresh = { server: after, client: clientView(after, flagSets?.client) }
    entry.isPrepared ||= after.ordered.length >= ALWAYS_PREPARED
    const prepare = entry.isPrepared ? prepareIncrementally : prepareDefinitions
    for (const kind of SDK_KEY_KINDS) await runInTimeSlices(prepare(fresh[kind]))
    // Without a valid version, broken flags that serve their defaults are better than none.
    const hasValid = before !== undefined && before.flags.size > 0
    // After the preparation, which compiles all flags in time slices.
    if (hasValid) assertNoNewFaults(after, before)
    const swap = { environmentId, after: fresh, before: flagSets, delta }
    if (this.preparation !== undefined) await runInTimeSlices(this.preparation(swap))
    const bytes = await runInTimeSlices(estimateBytes(fresh))
    this.#compiler.note(bytes, definition, delta)
    entry.flagSets = fresh
    entry.bytes = Math.round(entry.isPrepared ? bytes : bytes * UNPREPARED_SHARE)
    renewSampling(entry)
    this.#swaps += 1
    if (savedAt === undefined) this.#saved.save(environmentId, definition)
    const issues = hasValid ? [] : findErrors(after)
    if (issues.length > 0) {
      const { version } = after
      this.#logger.error('A flag set has faults', { environmentId, version, issues })
    }
    this.listener(entry, swap)
  }

  /** Logs a failure to load an entry, once. */
  report(entry: FlagSetEntry, error: unknown, message = NOT_UPDATED): void {
    const failure = String(error)
    if (failure === entry.failure) return
    entry.failure = failure
    this.#logger.error(message, {
      environmentId: entry.environmentId,
      version: entry.flagSets?.server.version ?? null,
      cause: error,
    })
  }
}

/** Returns the error for an environment that does not exist. */
export function noFlagSet(): FlagError {
  return new FlagError('NOT_FOUND', 'There is no such environment.')
}

function storeSilent(): FlagError {
  return new FlagError('UNAVAILABLE', 'The store does not respond.')
}
