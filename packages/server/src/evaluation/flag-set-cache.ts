import {
  compileIncrementally,
  type Extensions,
  FlagError,
  type FlagSet,
  type FlagSetDefinition,
  isFlagError,
} from '@ff/core'
import { clientView, prepareIncrementally } from '@ff/core/all-flags'
import { findErrors } from '@ff/core/authoring'
import { type DefinitionDelta, mergeChanges } from '@ff/core/changes'
import { re2 } from '@ff/core/regex'
import { schemes } from '@ff/core/schemes'
import type { NewestVersion, Storage } from '@ff/storage'
import { type FlagSetScope, SDK_KEY_KINDS } from '../access/sdk-keys.ts'
import { type Clock, within } from '../runtime/clock.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import type { Logger } from '../runtime/logger.ts'
import { runInTimeSlices } from '../runtime/time-slice.ts'
import { SavedFlagSets } from '../snapshots/saved-flag-sets.ts'
import type { SavedState } from '../snapshots/saved-state.ts'
import {
  FlagSetEntry,
  type FlagSetsByKind,
  isUpToDate,
  renewSampling,
  type SamplingRules,
} from './flag-set-entry.ts'
import { assertNoNewFaults, assertValidDefinition } from './valid-definition.ts'

/** The extensions that every flag set is compiled with, for evaluation, checks and explanations. */
export const extensions: Extensions = { regex: re2, schemes }

/** New flag sets of an environment. */
export interface FlagSetSwap {
  readonly environmentId: string
  readonly after: FlagSetsByKind
  /** The previous flag sets; absent after the first load. */
  readonly before?: FlagSetsByKind | undefined
  /** The changes from `before.server` to `after.server`; absent after the first load. */
  readonly delta?: DefinitionDelta | undefined
}

/** A function that is called after the flag sets of an environment were loaded. */
export type FlagSetListener = (swap: FlagSetSwap) => void

/** Work that is done, in time slices, before new flag sets replace the old ones. */
export type FlagSetPreparation = (swap: FlagSetSwap) => Generator<undefined, void>

/** A version that was read from the store. */
interface ReadVersion {
  readonly definition: FlagSetDefinition
  /** The changes since the cached version; absent if the whole flag set was read. */
  readonly delta?: DefinitionDelta
  /** When the flag set was saved, in epoch milliseconds; absent if it was read from the store. */
  readonly savedAt?: number
}

/** The number of calls of `dropUnused` after which an unused flag set is dropped. */
const IDLE_REFRESHES = 720

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

const NOT_UPDATED = 'A flag set could not be updated; the last valid version is kept'

interface FlagSetCacheOptions {
  readonly storage: Storage
  /** Contains the flag sets that are used while the store is unavailable. */
  readonly saved: SavedState
  readonly logger: Logger
  readonly clock: Clock
}

/** The flag sets of a loaded environment. */
export interface LoadedFlagSets {
  readonly flagSets: FlagSetsByKind
  /** The last time at which the store had no newer version, in epoch milliseconds. */
  readonly checkedAt: number
}

/**
 * Caches the compiled flag sets of the environments in use. The flag sets of an environment are
 * validated and replaced as a whole, and never by an older version. After the first load, reading a
 * flag set never waits for the store. If the store fails or has an invalid version, the last valid
 * version is kept. If the store fails before the first load, the saved version is used.
 */
export class FlagSetCache {
  readonly #storage: Storage
  readonly #saved: SavedFlagSets
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #entries = new Map<string, FlagSetEntry>()
  #listener: FlagSetListener = () => undefined
  #preparation: FlagSetPreparation | undefined
  #swaps = 0

  constructor({ storage, saved, logger, clock }: FlagSetCacheOptions) {
    this.#storage = storage
    this.#saved = new SavedFlagSets(saved)
    this.#logger = logger
    this.#clock = clock
  }

  /** The number of versions that were loaded since the start. */
  get swaps(): number {
    return this.#swaps
  }

  /** The number of environments with an old version because the newest version cannot be loaded. */
  get stale(): number {
    return [...this.#entries.values()].filter(({ failure }) => failure !== undefined).length
  }

  /** Sets the function that is called after each loaded version. */
  listen(listener: FlagSetListener): void {
    this.#listener = listener
  }

  /** Sets the work that is done before each loaded version replaces the previous one. */
  prepareWith(preparation: FlagSetPreparation): void {
    this.#preparation = preparation
  }

  /** Returns the flag set; `undefined` if the environment is not loaded. */
  find({ environmentId, kind }: FlagSetScope): FlagSet | undefined {
    const entry = this.#entries.get(environmentId)
    if (entry?.flagSets === undefined) return undefined
    entry.idleRefreshes = 0
    return entry.flagSets[kind]
  }

  /**
   * Returns the flag sets of an environment; `undefined` if the environment is not loaded. Does not
   * count as a use.
   */
  peek(environmentId: string): LoadedFlagSets | undefined {
    const { flagSets, checkedAt = 0 } = this.#entries.get(environmentId) ?? {}
    return flagSets === undefined ? undefined : { flagSets, checkedAt }
  }

  /**
   * Returns the sampling rules of an environment; `undefined` if it is not loaded. Returns the same
   * object until the rules change.
   */
  samplingOf(environmentId: string): SamplingRules | undefined {
    return this.#entries.get(environmentId)?.sampling
  }

  /**
   * Returns the flag set, and loads it first if necessary. If nothing was ever published, the flag
   * set has version 0 and no flags. Throws `NOT_FOUND` if the environment does not exist, and
   * `UNAVAILABLE` if the store cannot be read.
   */
  async get(scope: FlagSetScope): Promise<FlagSet> {
    const loaded = this.find(scope)
    if (loaded !== undefined) return loaded
    const { environmentId, kind } = scope
    const create = () => new FlagSetEntry(environmentId, (entered) => this.#update(entered))
    const entry = getOrInsert(this.#entries, environmentId, create)
    entry.first ??= entry.refresh.run()
    try {
      await entry.first
    } catch (error) {
      this.#entries.delete(environmentId)
      throw error
    }
    if (entry.flagSets === undefined) throw noFlagSet()
    return entry.flagSets[kind]
  }

  /**
   * Returns the flag set. If it is older than `version`, reads the store first. The result is still
   * older if the store no longer has this version, for example because a backup was restored.
   * Throws as `get` and `refresh` do.
   */
  async getAtLeast(scope: FlagSetScope, version: number): Promise<FlagSet> {
    const flagSet = await this.get(scope)
    if (flagSet.version >= version) return flagSet
    await this.refresh(scope.environmentId, version)
    return this.find(scope) ?? flagSet
  }

  /**
   * Loads the newest version of a loaded environment, unless the cached version is `atLeast` or
   * newer. Throws `UNAVAILABLE` if loading fails; the cached flag sets are then kept.
   */
  async refresh(environmentId: string, atLeast = Number.POSITIVE_INFINITY): Promise<void> {
    const entry = this.#entries.get(environmentId)
    if (entry === undefined || (entry.flagSets?.server.version ?? 0) >= atLeast) return
    await entry.refresh.run()
  }

  /** Drops environments that are not `inUse` and were not used since many calls of this method. */
  dropUnused(inUse: (environmentId: string) => boolean): void {
    for (const entry of this.#entries.values()) {
      entry.idleRefreshes = inUse(entry.environmentId) ? 0 : entry.idleRefreshes + 1
      if (entry.idleRefreshes > IDLE_REFRESHES) this.#entries.delete(entry.environmentId)
    }
  }

  /**
   * Refreshes the loaded environments that have changed. Must be called when the store begins to
   * read the `reading` versions of the loaded environments. Failures are logged; the promise never
   * rejects.
   */
  async refreshChanged(reading: Promise<ReadonlyMap<string, NewestVersion>>): Promise<void> {
    const entries = [...this.#entries.values()].filter(({ flagSets }) => flagSets !== undefined)
    const checkedAt = this.#clock.now()
    try {
      const newest = await reading
      const refreshes = entries.map((entry) => {
        const isCurrent = isUpToDate(entry, newest.get(entry.environmentId))
        return isCurrent ? this.#confirm(entry, checkedAt) : entry.refresh.run()
      })
      await Promise.allSettled(refreshes)
    } catch (error) {
      for (const entry of entries) this.#report(entry, error)
    }
  }

  /** Iterates over the loaded environments. */
  *loaded(): Iterable<readonly [environmentId: string, flagSets: FlagSetsByKind]> {
    for (const { environmentId, flagSets } of this.#entries.values()) {
      if (flagSets !== undefined) yield [environmentId, flagSets]
    }
  }

  /** Reads the store: the whole flag set the first time, only the changes afterwards. */
  async #update(entry: FlagSetEntry): Promise<void> {
    await this.#rest(entry)
    const checkedAt = this.#clock.now()
    try {
      const read = await this.#read(entry)
      if (read !== undefined) {
        const begunAt = this.#clock.now()
        await this.#swap(entry, read)
        entry.busyMs += Math.max(0, this.#clock.now() - begunAt)
      }
      if (read?.savedAt !== undefined) return
      await this.#readSettings(entry, checkedAt)
      this.#confirm(entry, checkedAt)
    } catch (error) {
      if (isFlagError(error) && error.code === 'NOT_FOUND') throw error
      this.#report(entry, error)
      throw new FlagError('UNAVAILABLE', 'The flags cannot be read at the moment.', {
        cause: error,
      })
    }
  }

  /** Notes that the store had no newer version at a time. */
  #confirm(entry: FlagSetEntry, checkedAt: number): void {
    const { environmentId, failure } = entry
    entry.checkedAt = Math.max(entry.checkedAt, checkedAt)
    entry.failure = undefined
    entry.isSaved = false
    this.#saved.confirm(environmentId)
    if (failure !== undefined) {
      this.#logger.info('A flag set is up to date again', { environmentId })
    }
  }

  /** Pauses after much loading. Changes that arrive during the pause are loaded together. */
  async #rest(entry: FlagSetEntry): Promise<void> {
    const now = this.#clock.now()
    entry.busyMs = Math.max(0, entry.busyMs - Math.max(0, now - entry.busyAt) * BUSY_SHARE)
    entry.busyAt = now
    const restMs = (entry.busyMs - BUSY_AT_A_STRETCH_MS) / BUSY_SHARE
    if (restMs <= 0) return
    await new Promise<void>((resolve) => {
      this.#clock.schedule(Math.min(LONGEST_REST_MS, restMs), resolve)
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
    const inTime = within(reading, { clock: this.#clock, ms: FIRST_READ_WITHIN_MS })
    const read = await inTime.catch((error: unknown) => {
      if (isFlagError(error) && error.code === 'NOT_FOUND') throw error
    })
    if (read !== undefined) return read
    const saved = await this.#saved.load(environmentId)
    if (saved === undefined) return reading
    reading.then(() => entry.refresh.run()).catch(() => undefined)
    entry.isSaved = true
    entry.checkedAt = saved.confirmedAt
    this.#report(entry, storeSilent(), 'The store is unavailable; a saved flag set is used')
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
    await runInTimeSlices(assertValidDefinition(definition, before?.definition))
    const after = await runInTimeSlices(
      compileIncrementally(definition, { previous: before, extensions }),
    )
    const fresh = { server: after, client: clientView(after, flagSets?.client) }
    for (const kind of SDK_KEY_KINDS) await runInTimeSlices(prepareIncrementally(fresh[kind]))
    // Without a valid version, broken flags that serve their defaults are better than none.
    const hasValid = before !== undefined && before.flags.size > 0
    // After the preparation, which compiles all flags in time slices.
    if (hasValid) assertNoNewFaults(after, before)
    const swap = { environmentId, after: fresh, before: flagSets, delta }
    if (this.#preparation !== undefined) await runInTimeSlices(this.#preparation(swap))
    entry.flagSets = fresh
    renewSampling(entry)
    this.#swaps += 1
    if (savedAt === undefined) this.#saved.save(environmentId, definition)
    const issues = hasValid ? [] : findErrors(after)
    if (issues.length > 0) {
      const { version } = after
      this.#logger.error('A flag set has faults', { environmentId, version, issues })
    }
    this.#listener(swap)
  }

  #report(entry: FlagSetEntry, error: unknown, message = NOT_UPDATED): void {
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

function noFlagSet(): FlagError {
  return new FlagError('NOT_FOUND', 'There is no such environment.')
}

function storeSilent(): FlagError {
  return new FlagError('UNAVAILABLE', 'The store does not respond.')
}
