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
import { mergeChanges } from '@ff/core/changes'
import { re2 } from '@ff/core/regex'
import { schemes } from '@ff/core/schemes'
import type { Environment } from '@ff/protocol/management'
import type { Storage } from '@ff/storage'
import { type FlagSetScope, SDK_KEY_KINDS, type SdkKeyKind } from '../access/sdk-keys.ts'
import type { Clock } from '../runtime/clock.ts'
import { CoalescedTask } from '../runtime/coalesced-task.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import type { Logger } from '../runtime/logger.ts'
import { runInTimeSlices } from '../runtime/time-slice.ts'
import { assertNoNewFaults, assertValidDefinition } from './valid-definition.ts'

/** The extensions with which every flag set is compiled: to check, to explain and to evaluate it. */
export const extensions: Extensions = { regex: re2, schemes }

/** The flag set for SDK keys of each kind; one object if every flag is visible to clients. */
export type FlagSetsByKind = Readonly<Record<SdkKeyKind, FlagSet>>

/** Called when flag sets replace older ones; `before` is absent for the first ones. */
export type FlagSetListener = (
  environmentId: string,
  after: FlagSetsByKind,
  before?: FlagSetsByKind,
) => void

/** A flag set that was not used during this many calls of `refreshAll` is dropped. */
const IDLE_REFRESHES = 720

/**
 * The share of the time that loading versions of an environment may take, and how long it may take
 * without a pause before: many changes in a row must not keep the process from evaluating.
 */
const BUSY_SHARE = 0.02
const BUSY_AT_A_STRETCH_MS = 250
const LONGEST_REST_MS = 500

/** Less than the time between two checks of versions, so that each check reads it. */
const PRIVACY_EVERY_MS = 4000

interface FlagSetCacheOptions {
  readonly storage: Storage
  readonly logger: Logger
  readonly clock: Clock
}

/** The flag sets of a loaded environment. */
export interface LoadedFlagSets {
  readonly flagSets: FlagSetsByKind
  /** When the store was last known to have nothing newer; epoch milliseconds. */
  readonly checkedAt: number
}

class Entry {
  readonly environmentId: string
  readonly refresh: CoalescedTask
  /** The first load, which all callers await. */
  first: Promise<void> | undefined
  flagSets: FlagSetsByKind | undefined
  /** When the store was last known to have nothing newer; epoch milliseconds. */
  checkedAt = 0
  /** `none` until it has been read. */
  privacy: Environment['contextPrivacy'] = 'none'
  privacyReadAt = Number.NEGATIVE_INFINITY
  /** Calls of `refreshAll` since the last use. */
  idleRefreshes = 0
  /** How long loading versions has taken lately, as of `busyAt`. */
  busyMs = 0
  busyAt = 0
  /** The last failure, so that it is logged once and not every few seconds. */
  failure: string | undefined

  constructor(environmentId: string, update: (entry: Entry) => Promise<void>) {
    this.environmentId = environmentId
    this.refresh = new CoalescedTask(() => update(this))
  }
}

/**
 * The compiled flag sets of the environments in use: one complete, checked snapshot each, replaced as
 * a whole and never by an older one. Once loaded, reading one never waits for the store. If the store
 * fails or has an invalid version, the last valid one stays.
 */
export class FlagSetCache {
  readonly #storage: Storage
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry>()
  #listener: FlagSetListener = () => undefined
  #swaps = 0

  constructor({ storage, logger, clock }: FlagSetCacheOptions) {
    this.#storage = storage
    this.#logger = logger
    this.#clock = clock
  }

  /** How many versions were loaded since the start. */
  get swaps(): number {
    return this.#swaps
  }

  /** How many environments have an old version, because the newest cannot be read or is not valid. */
  get stale(): number {
    return [...this.#entries.values()].filter(({ failure }) => failure !== undefined).length
  }

  /** Sets the function that is called after every load. */
  listen(listener: FlagSetListener): void {
    this.#listener = listener
  }

  /** Returns the flag set, if the environment is loaded. */
  find({ environmentId, kind }: FlagSetScope): FlagSet | undefined {
    const entry = this.#entries.get(environmentId)
    if (entry?.flagSets === undefined) return undefined
    entry.idleRefreshes = 0
    return entry.flagSets[kind]
  }

  /** Returns the flag sets of a loaded environment; does not count as a use. */
  peek(environmentId: string): LoadedFlagSets | undefined {
    const { flagSets, checkedAt = 0 } = this.#entries.get(environmentId) ?? {}
    return flagSets === undefined ? undefined : { flagSets, checkedAt }
  }

  /** Returns how much of its contexts a loaded environment keeps, as of the last refresh. */
  privacyOf(environmentId: string): Environment['contextPrivacy'] {
    return this.#entries.get(environmentId)?.privacy ?? 'none'
  }

  /**
   * Returns the flag set, and loads it first if necessary; version 0 without flags if nothing was
   * ever published. Throws `NOT_FOUND` if the environment does not exist.
   */
  async get(scope: FlagSetScope): Promise<FlagSet> {
    const loaded = this.find(scope)
    if (loaded !== undefined) return loaded
    const { environmentId, kind } = scope
    const create = () => new Entry(environmentId, (entered) => this.#update(entered))
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
   * Loads the newest version of a loaded environment, unless it has `atLeast` this version. Throws
   * `UNAVAILABLE` if that fails; the flag sets stay.
   */
  async refresh(environmentId: string, atLeast = Number.POSITIVE_INFINITY): Promise<void> {
    const entry = this.#entries.get(environmentId)
    if (entry === undefined || (entry.flagSets?.server.version ?? 0) >= atLeast) return
    await entry.refresh.run()
  }

  /** Refreshes all loaded environments; drops those that are neither `inUse` nor were used lately. */
  async refreshAll(inUse: (environmentId: string) => boolean): Promise<void> {
    const refreshes: Promise<void>[] = []
    for (const entry of this.#entries.values()) {
      entry.idleRefreshes = inUse(entry.environmentId) ? 0 : entry.idleRefreshes + 1
      if (entry.idleRefreshes > IDLE_REFRESHES) this.#entries.delete(entry.environmentId)
      else refreshes.push(entry.refresh.run().catch(() => undefined))
    }
    await Promise.all(refreshes)
  }

  /** Iterates over the loaded environments. */
  *loaded(): Iterable<readonly [environmentId: string, flagSets: FlagSetsByKind]> {
    for (const { environmentId, flagSets } of this.#entries.values()) {
      if (flagSets !== undefined) yield [environmentId, flagSets]
    }
  }

  /** Reads the store: everything at first, later only the changes. */
  async #update(entry: Entry): Promise<void> {
    await this.#rest(entry)
    const checkedAt = this.#clock.now()
    try {
      const definition = await this.#read(entry)
      if (definition !== undefined) {
        const begunAt = this.#clock.now()
        await this.#swap(entry, definition)
        entry.busyMs += Math.max(0, this.#clock.now() - begunAt)
      }
      await this.#readPrivacy(entry, checkedAt)
      entry.checkedAt = checkedAt
      if (entry.failure !== undefined) {
        this.#logger.info('a flag set is up to date again', { environmentId: entry.environmentId })
      }
      entry.failure = undefined
    } catch (error) {
      if (isFlagError(error) && error.code === 'NOT_FOUND') throw error
      this.#report(entry, error)
      throw new FlagError('UNAVAILABLE', 'The flags cannot be read at the moment.', {
        cause: error,
      })
    }
  }

  /** Waits after much work; changes that arrive meanwhile are loaded together. */
  async #rest(entry: Entry): Promise<void> {
    const now = this.#clock.now()
    entry.busyMs = Math.max(0, entry.busyMs - Math.max(0, now - entry.busyAt) * BUSY_SHARE)
    entry.busyAt = now
    const restMs = (entry.busyMs - BUSY_AT_A_STRETCH_MS) / BUSY_SHARE
    if (restMs <= 0) return
    await new Promise<void>((resolve) => {
      this.#clock.schedule(Math.min(LONGEST_REST_MS, restMs), resolve)
    })
  }

  async #read({ environmentId, flagSets }: Entry): Promise<FlagSetDefinition | undefined> {
    const flagSet = flagSets?.server
    if (flagSet === undefined) {
      const definition = await this.#storage.loadFlagSet(environmentId)
      return definition ?? this.#unpublished(environmentId)
    }
    const changes = await this.#storage.loadChanges(environmentId, flagSet.version)
    return changes.version > flagSet.version ? mergeChanges(flagSet.definition, changes) : undefined
  }

  /** Reads what is not part of a version; a deleted environment keeps its value. */
  async #readPrivacy(entry: Entry, now: number): Promise<void> {
    if (Math.abs(now - entry.privacyReadAt) < PRIVACY_EVERY_MS) return
    const environment = await this.#storage.find('environment', entry.environmentId)
    entry.privacy = environment?.contextPrivacy ?? entry.privacy
    entry.privacyReadAt = now
  }

  async #unpublished(environmentId: string): Promise<FlagSetDefinition> {
    if ((await this.#storage.find('environment', environmentId)) === undefined) throw noFlagSet()
    return { version: 0, flags: [], segments: [] }
  }

  /** Prepares the new version completely before it is used; meanwhile the old one is used. */
  async #swap(entry: Entry, definition: FlagSetDefinition): Promise<void> {
    const { environmentId, flagSets } = entry
    const before = flagSets?.server
    await runInTimeSlices(assertValidDefinition(definition, before?.definition))
    const after = await runInTimeSlices(
      compileIncrementally(definition, { previous: before, extensions }),
    )
    // Without a valid version to keep, flags that serve their default are better than no flags.
    const hasValid = before !== undefined && before.flags.size > 0
    if (hasValid) assertNoNewFaults(after, before)
    const fresh = { server: after, client: clientView(after, flagSets?.client) }
    for (const kind of SDK_KEY_KINDS) await runInTimeSlices(prepareIncrementally(fresh[kind]))
    entry.flagSets = fresh
    this.#swaps += 1
    const issues = hasValid ? [] : findErrors(after)
    if (issues.length > 0) {
      const { version } = after
      this.#logger.error('a flag set has faults', { environmentId, version, issues })
    }
    this.#listener(environmentId, fresh, flagSets)
  }

  #report(entry: Entry, error: unknown): void {
    const failure = String(error)
    if (failure === entry.failure) return
    entry.failure = failure
    this.#logger.error('a flag set could not be brought up to date; the last good one stays', {
      environmentId: entry.environmentId,
      version: entry.flagSets?.server.version ?? null,
      cause: error,
    })
  }
}

function noFlagSet(): FlagError {
  return new FlagError('NOT_FOUND', 'There is no such environment.')
}
