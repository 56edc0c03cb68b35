import {
  compileIncrementally,
  FlagError,
  type FlagSet,
  type FlagSetDefinition,
  isFlagError,
} from '@ff/core'
import { clientView, prepareIncrementally } from '@ff/core/all-flags'
import { findErrors } from '@ff/core/authoring'
import { mergeChanges } from '@ff/core/changes'
import type { Environment } from '@ff/protocol/management'
import type { Storage } from '@ff/storage'
import { type FlagSetScope, SDK_KEY_KINDS, type SdkKeyKind } from '../access/sdk-keys.ts'
import type { Clock } from '../runtime/clock.ts'
import { CoalescedTask } from '../runtime/coalesced-task.ts'
import type { Logger } from '../runtime/logger.ts'
import { runInTimeSlices } from '../runtime/time-slice.ts'
import { extensions } from './extensions.ts'
import { assertNoNewFaults, assertValidDefinition } from './valid-definition.ts'

/** What an environment answers to SDK keys of each kind; one object if every flag is visible. */
export type FlagSetsByKind = Readonly<Record<SdkKeyKind, FlagSet>>

/** Called when flag sets replace their predecessors; `before` is absent at first. */
export type FlagSetListener = (
  environmentId: string,
  after: FlagSetsByKind,
  before?: FlagSetsByKind,
) => void

/** A flag set that nobody asked for in this many rounds of `refreshAll` is dropped. */
const IDLE_ROUNDS = 720

/**
 * The share of the time that taking over versions of an environment may use up, and how long it
 * may do so at a stretch before: many changes in a row must not keep the process from evaluating.
 */
const BUSY_SHARE = 0.02
const BUSY_AT_A_STRETCH_MS = 250
const LONGEST_REST_MS = 500

/** Less than from one check of versions to the next, so that each of them reads it. */
const PRIVACY_EVERY_MS = 4000

interface FlagSetCacheOptions {
  readonly storage: Storage
  readonly logger: Logger
  readonly clock: Clock
}

/** What is held of an environment. */
export interface HeldFlagSets {
  readonly flagSets: FlagSetsByKind
  /** When the store was last known to have nothing newer; epoch milliseconds. */
  readonly checkedAt: number
}

interface Entry {
  readonly environmentId: string
  readonly refresh: CoalescedTask
  /** The load that everybody waits for who asks before there is anything. */
  first: Promise<void> | undefined
  flagSets: FlagSetsByKind | undefined
  /** When the store was last asked and had nothing newer than what is held; epoch milliseconds. */
  checkedAt: number
  /** Nothing is kept until it is known what may be. */
  privacy: Environment['contextPrivacy']
  privacyReadAt: number
  /** DeliveryQueue of `refreshAll` since somebody last asked. */
  idleRounds: number
  /** For how long versions were taken over lately, as of `busyAt`. */
  busyMs: number
  busyAt: number
  /** What went wrong last, so that it is logged once and not every few seconds. */
  trouble: string | undefined
}

/**
 * The compiled flag sets of the environments in use, one complete and checked snapshot each,
 * swapped whole and never for an older one. Once loaded, reading one never waits for the store,
 * and a store that fails or holds something invalid leaves the last good one in place.
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

  /** How many versions have taken the place of another, or the first place, since the start. */
  get swaps(): number {
    return this.#swaps
  }

  /** How many environments serve an old version, because the newest cannot be read or is not sound. */
  get stale(): number {
    return [...this.#entries.values()].filter(({ trouble }) => trouble !== undefined).length
  }

  /** Sets who hears of every swap. */
  listen(listener: FlagSetListener): void {
    this.#listener = listener
  }

  /** The flag set held now, if the environment is loaded. */
  find({ environmentId, kind }: FlagSetScope): FlagSet | undefined {
    const entry = this.#entries.get(environmentId)
    if (entry?.flagSets === undefined) return undefined
    entry.idleRounds = 0
    return entry.flagSets[kind]
  }

  /** What is held now of an environment, without counting as a use. */
  peek(environmentId: string): HeldFlagSets | undefined {
    const { flagSets, checkedAt = 0 } = this.#entries.get(environmentId) ?? {}
    return flagSets === undefined ? undefined : { flagSets, checkedAt }
  }

  /** How much of its contexts a loaded environment keeps, as of the last refresh. */
  privacyOf(environmentId: string): Environment['contextPrivacy'] {
    return this.#entries.get(environmentId)?.privacy ?? 'none'
  }

  /**
   * The flag set held now, else the one that is then loaded; version 0 without flags when nothing
   * was ever published. Throws `NOT_FOUND` when there is no such environment.
   */
  async get(scope: FlagSetScope): Promise<FlagSet> {
    const held = this.find(scope)
    if (held !== undefined) return held
    const { environmentId, kind } = scope
    const entry = this.#entries.get(environmentId) ?? this.#enter(environmentId)
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
   * Fetches what a loaded environment lacks, unless it holds `atLeast` this version already.
   * Throws `UNAVAILABLE` when that fails; what is held stays.
   */
  async refresh(environmentId: string, atLeast = Number.POSITIVE_INFINITY): Promise<void> {
    const entry = this.#entries.get(environmentId)
    if (entry === undefined || (entry.flagSets?.server.version ?? 0) >= atLeast) return
    await entry.refresh.run()
  }

  /** Fetches what all loaded environments lack, and drops those that `inUse` and callers forgot. */
  async refreshAll(inUse: (environmentId: string) => boolean): Promise<void> {
    const refreshes: Promise<void>[] = []
    for (const entry of this.#entries.values()) {
      entry.idleRounds = inUse(entry.environmentId) ? 0 : entry.idleRounds + 1
      if (entry.idleRounds > IDLE_ROUNDS) this.#entries.delete(entry.environmentId)
      else refreshes.push(entry.refresh.run().catch(() => undefined))
    }
    await Promise.all(refreshes)
  }

  /** Every environment that is loaded. */
  *loaded(): Iterable<readonly [environmentId: string, flagSets: FlagSetsByKind]> {
    for (const { environmentId, flagSets } of this.#entries.values()) {
      if (flagSets !== undefined) yield [environmentId, flagSets]
    }
  }

  #enter(environmentId: string): Entry {
    const entry: Entry = {
      environmentId,
      refresh: new CoalescedTask(() => this.#update(entry)),
      first: undefined,
      flagSets: undefined,
      checkedAt: 0,
      privacy: 'none',
      privacyReadAt: Number.NEGATIVE_INFINITY,
      idleRounds: 0,
      busyMs: 0,
      busyAt: 0,
      trouble: undefined,
    }
    this.#entries.set(environmentId, entry)
    return entry
  }

  /** One read of the store: everything at first, later only what changed. */
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
      if (entry.trouble !== undefined) {
        this.#logger.info('a flag set is up to date again', { environmentId: entry.environmentId })
      }
      entry.trouble = undefined
    } catch (error) {
      if (isFlagError(error) && error.code === 'NOT_FOUND') throw error
      this.#report(entry, error)
      throw new FlagError('UNAVAILABLE', 'The flags cannot be read at the moment.', {
        cause: error,
      })
    }
  }

  /** Changes that come meanwhile are taken over together. */
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

  /** It is no part of any version; a deleted environment keeps what it had. */
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

  /** The new version is ready before anybody is answered with it, and nobody waits for that. */
  async #swap(entry: Entry, definition: FlagSetDefinition): Promise<void> {
    const { environmentId, flagSets } = entry
    const before = flagSets?.server
    await runInTimeSlices(assertValidDefinition(definition, before?.definition))
    const after = await runInTimeSlices(
      compileIncrementally(definition, { previous: before, extensions }),
    )
    // With nothing good to keep, flags that serve their default are better than no flags.
    const hasGood = before !== undefined && before.flags.size > 0
    if (hasGood) assertNoNewFaults(after, before)
    const fresh = { server: after, client: clientView(after, flagSets?.client) }
    for (const kind of SDK_KEY_KINDS) await runInTimeSlices(prepareIncrementally(fresh[kind]))
    entry.flagSets = fresh
    this.#swaps += 1
    const issues = hasGood ? [] : findErrors(after)
    if (issues.length > 0) {
      const { version } = after
      this.#logger.error('a flag set has faults', { environmentId, version, issues })
    }
    this.#listener(environmentId, fresh, flagSets)
  }

  #report(entry: Entry, error: unknown): void {
    const trouble = String(error)
    if (trouble === entry.trouble) return
    entry.trouble = trouble
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
