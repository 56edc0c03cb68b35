import type { FlagSet } from '@ff/core'
import type { NewestVersion } from '@ff/storage'
import type { FlagSetScope } from '../access/scope.ts'
import type { Clock } from '../runtime/clock.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import { FlagSetBudget, sumOf } from './flag-set-budget.ts'
import {
  FlagSetEntry,
  type FlagSetsByKind,
  isUpToDate,
  type LoadScope,
  type SamplingRules,
} from './flag-set-entry.ts'
import { FlagSetLoader, type FlagSetLoaderOptions, noFlagSet } from './flag-set-loader.ts'
import type { FlagSetListener, FlagSetPreparation } from './flag-set-swap.ts'

/** The number of calls of `dropUnused` after which an unused flag set is dropped. */
const IDLE_REFRESHES = 720

/**
 * The number of uses after which the evaluation of all flags together is prepared. It is smaller
 * than the number of evaluations after which the engine does so without interruption.
 */
const PREPARED_AFTER = 8

/** The flag sets of a loaded environment. */
export interface LoadedFlagSets {
  readonly flagSets: FlagSetsByKind
  /** The last time at which the store had no newer version, in epoch milliseconds. */
  readonly checkedAt: number
}

/** The live clients of all environments. */
interface LiveClients {
  /** Returns `true` if an environment has live clients. */
  has(environmentId: string): boolean
  /** Ends the clients with a matching scope to make room for others. */
  end(matches: (scope: FlagSetScope) => boolean, reason: 'gaveWay'): Promise<void>
}

interface FlagSetCacheOptions extends FlagSetLoaderOptions {
  /** The maximum estimated memory of all flag sets, in bytes. */
  readonly maxFlagSetBytes: number
  /** The live clients, which are ended if the flag set of their environment is dropped. */
  readonly sessions: LiveClients
}

/**
 * Caches the compiled flag sets of the environments in use. The flag sets of an environment are
 * validated and replaced as a whole, and never by an older version. After the first load, reading a
 * flag set never waits for the store. If the store fails or has an invalid version, the last valid
 * version is kept. If the store fails before the first load, the saved version is used. If all flag
 * sets together need more memory than the budget, some of them are dropped, and loaded again when
 * they are used (see `FlagSetBudget`).
 */
export class FlagSetCache {
  readonly #loader: FlagSetLoader
  readonly #clock: Clock
  readonly #entries = new Map<string, FlagSetEntry>()
  readonly #sessions: FlagSetCacheOptions['sessions']
  readonly #budget: FlagSetBudget
  readonly #maxBytes: number
  #listener: FlagSetListener = () => undefined
  #dropListener: (environmentId: string) => void = () => undefined
  #uses = 0
  #drops = 0

  constructor(options: FlagSetCacheOptions) {
    const { clock, sessions, maxFlagSetBytes, logger } = options
    this.#clock = clock
    this.#sessions = sessions
    this.#maxBytes = maxFlagSetBytes
    const isLive = (environmentId: string) => sessions.has(environmentId)
    this.#budget = new FlagSetBudget({ maxFlagSetBytes, isLive, logger })
    this.#loader = new FlagSetLoader(options)
    this.#loader.listener = (entry, swap) => {
      // An entry that was dropped during a load must not replace versions of its successor.
      if (this.#entries.get(entry.environmentId) !== entry) return
      this.#makeRoomFor(entry)
      this.#listener(swap)
    }
  }

  /** The estimated memory of all flag sets, in bytes. */
  get bytes(): number {
    return sumOf(this.#entries.values())
  }

  /** The number of environments that were loaded for the first time, or again after a drop. */
  get loads(): number {
    return this.#loader.firstLoads
  }

  /** The number of flag sets that were dropped because there was no room. */
  get drops(): number {
    return this.#drops
  }

  /** The number of versions that were loaded since the start. */
  get swaps(): number {
    return this.#loader.swaps
  }

  /** The number of environments with an old version because the newest version cannot be loaded. */
  get stale(): number {
    return [...this.#entries.values()].filter(({ failure }) => failure !== undefined).length
  }

  /** Sets the function that is called after each loaded version. */
  listen(listener: FlagSetListener): void {
    this.#listener = listener
  }

  /** Sets the function that is called after an environment was dropped. */
  listenToDrops(listener: (environmentId: string) => void): void {
    this.#dropListener = listener
  }

  /** Sets the work that is done before each loaded version replaces the previous one. */
  prepareWith(preparation: FlagSetPreparation): void {
    this.#loader.preparation = preparation
  }

  /** Returns the flag set; `undefined` if the environment is not loaded. */
  find({ environmentId, kind }: FlagSetScope): FlagSet | undefined {
    const entry = this.#entries.get(environmentId)
    if (entry?.flagSets === undefined) return undefined
    this.#use(entry)
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
  async get(scope: LoadScope): Promise<FlagSet> {
    const loaded = this.find(scope)
    if (loaded !== undefined) return loaded
    const { environmentId, kind } = scope
    const create = () => new FlagSetEntry(scope, (entered) => this.#loader.update(entered))
    const entry = getOrInsert(this.#entries, environmentId, create)
    this.#use(entry)
    entry.first ??= this.#loader.load(entry)
    try {
      await entry.first
    } catch (error) {
      if (this.#entries.get(environmentId) === entry) this.#entries.delete(environmentId)
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
  async getAtLeast(scope: LoadScope, version: number): Promise<FlagSet> {
    const flagSet = await this.get(scope)
    if (flagSet.version >= version) return flagSet
    await this.refresh(scope.environmentId, version)
    return this.get(scope)
  }

  /**
   * Loads the newest version of a loaded environment, unless the cached version is `atLeast` or
   * newer. Throws `UNAVAILABLE` if loading fails; the cached flag sets are then kept.
   */
  async refresh(environmentId: string, atLeast = Number.POSITIVE_INFINITY): Promise<void> {
    const entry = this.#entries.get(environmentId)
    while (entry !== undefined && (entry.flagSets?.server.version ?? 0) < atLeast) {
      // The version may be the one that is being loaded for another caller.
      const loading = Number.isFinite(atLeast) ? entry.refresh.pending : undefined
      if (loading === undefined) return entry.refresh.run()
      await loading.catch(() => undefined)
    }
  }

  /**
   * Loads this version of a loaded environment, unless the cached version is this one or newer. Does
   * not wait while loading pauses after many changes. Throws as `refresh` does.
   */
  async serve(environmentId: string, version: number): Promise<void> {
    const entry = this.#entries.get(environmentId)
    while (entry !== undefined && (entry.flagSets?.server.version ?? 0) < version) {
      if (this.#loader.restMs(entry) > 0) {
        // A failure is logged by the loader.
        this.refresh(environmentId, version).catch(() => undefined)
        return
      }
      const { running } = entry.refresh
      if (running === undefined) return entry.refresh.run()
      await running.catch(() => undefined)
    }
  }

  /** Drops environments that are not `inUse` and were not used since many calls of this method. */
  dropUnused(inUse: (environmentId: string) => boolean): void {
    for (const entry of this.#entries.values()) {
      entry.idleRefreshes = inUse(entry.environmentId) ? 0 : entry.idleRefreshes + 1
      if (entry.idleRefreshes > IDLE_REFRESHES) this.#drop(entry)
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
        return isCurrent ? this.#loader.confirm(entry, checkedAt) : entry.refresh.run()
      })
      await Promise.allSettled(refreshes)
    } catch (error) {
      for (const entry of entries) this.#loader.report(entry, error)
    }
  }

  /** `true` if another flag set of average size fits in the budget. */
  get hasRoom(): boolean {
    const size = Math.max(1, this.#entries.size)
    return (this.bytes / size) * (size + 1) <= this.#maxBytes
  }

  /** Returns the loaded environments, those that were used last first. */
  inUse(): readonly Pick<FlagSetEntry, 'environmentId' | 'organizationId'>[] {
    const loaded = [...this.#entries.values()].filter(({ flagSets }) => flagSets !== undefined)
    return loaded.sort((a, b) => b.usedAt - a.usedAt)
  }

  /** Iterates over the loaded environments. */
  *loaded(): Iterable<readonly [environmentId: string, flagSets: FlagSetsByKind]> {
    for (const { environmentId, flagSets } of this.#entries.values()) {
      if (flagSets !== undefined) yield [environmentId, flagSets]
    }
  }

  #use(entry: FlagSetEntry): void {
    this.#uses += 1
    entry.usedAt = this.#uses
    entry.idleRefreshes = 0
    if (entry.isPrepared) return
    entry.uses += 1
    if (entry.uses === PREPARED_AFTER) void this.#prepare(entry)
  }

  async #prepare(entry: FlagSetEntry): Promise<void> {
    await this.#loader.prepare(entry)
    if (this.#entries.get(entry.environmentId) === entry) this.#makeRoomFor(entry)
  }

  #makeRoomFor(loaded: FlagSetEntry): void {
    for (const entry of this.#budget.excess(this.#entries.values(), loaded)) {
      const { environmentId } = entry
      this.#drops += 1
      this.#drop(entry)
      if (!this.#sessions.has(environmentId)) continue
      // Without its flag set, a client would miss changes. It connects again later.
      void this.#sessions.end((scope) => scope.environmentId === environmentId, 'gaveWay')
    }
  }

  #drop({ environmentId }: FlagSetEntry): void {
    this.#entries.delete(environmentId)
    this.#dropListener(environmentId)
  }
}
