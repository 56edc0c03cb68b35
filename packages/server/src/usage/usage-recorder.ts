import type { FlagSet } from '@ff/core'
import type { ContextSample, EvaluationCount, EvaluationSource, Storage } from '@ff/storage'
import type { FlagSetScope, SdkKeyKind } from '../access/sdk-keys.ts'
import { contextHashOf } from '../evaluation/entity-tag.ts'
import type { Evaluated } from '../evaluation/evaluated.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import type { Metrics } from '../http/metrics.ts'
import type { Cancel, Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import { inSlices } from '../runtime/time-slice.ts'
import { ContextSightings } from './context-sightings.ts'
import { EvaluationCounters, type FlagCount } from './evaluation-counters.ts'
import { OrganizationUsage } from './organization-usage.ts'
import { PendingCounts } from './pending-counts.ts'
import { personOf } from './person.ts'
import { RowWriter } from './row-writer.ts'
import { HOUR_MS } from './unique-users.ts'
import type { UsageReport } from './usage-report.ts'
import { UserSketches } from './user-sketches.ts'

/** How long is gathered before it is written. */
const GATHER_MS = 1000
/** How long a stopping server waits for what it still has to write. */
const CLOSE_WITHIN_MS = 3000

const MINUTE_MS = 60_000

interface UsageRecorderParts {
  readonly storage: Storage
  readonly cache: Pick<FlagSetCache, 'privacyOf'>
  readonly metrics: Pick<Metrics, 'observeEvaluation'>
  readonly clock: Clock
  readonly logger: Logger
}

/** What waits to be written, and what never will be: there was no room, or the store refused it. */
export interface UsageStats {
  readonly dropped: {
    readonly evaluations: number
    readonly contexts: number
    readonly requests: number
    /** Flags whose last evaluation was not noted. */
    readonly flags: number
    readonly users: number
  }
  /** Rows of counts, contexts, and environments with requests. */
  readonly pending: number
}

/** What was counted for one environment and kind of key since it was last collected. */
interface EnvironmentUsage {
  readonly environmentId: string
  requests: number
  counters: EvaluationCounters | undefined
  /** Of `counters`, since the epoch. */
  minute: number
  /** At which that minute begins. */
  timestamp: string
}

/**
 * Remembers what is evaluated, and writes it in batches, at most every second. Recording never
 * waits and never fails. A store that is slow or away leaves recordings waiting, as many as there
 * is room for; the others are dropped, and counted as such.
 */
export class UsageRecorder {
  readonly #storage: Storage
  readonly #metrics: Pick<Metrics, 'observeEvaluation'>
  readonly #clock: Clock
  readonly #logger: Logger
  /** By kind of key, whose flag sets differ, and environment. */
  readonly #environments: Readonly<Record<SdkKeyKind, Map<string, EnvironmentUsage>>> = {
    client: new Map(),
    server: new Map(),
  }
  readonly #counts: PendingCounts
  readonly #organizations: OrganizationUsage
  readonly #sightings: ContextSightings
  readonly #users: UserSketches
  /** The audiences whose contexts were counted as users in this hour. */
  #told = { hour: 0, audiences: new WeakSet() }
  /** What went wrong with the last batch, so that it is logged once. */
  #trouble: string | undefined
  #cancel: Cancel | undefined
  #flushing: Promise<void> | undefined
  #isClosed = false

  constructor({ storage, cache, metrics, clock, logger }: UsageRecorderParts) {
    this.#storage = storage
    this.#metrics = metrics
    this.#clock = clock
    this.#logger = logger
    const writer = new RowWriter(logger)
    this.#counts = new PendingCounts(writer)
    this.#organizations = new OrganizationUsage(storage, writer)
    this.#users = new UserSketches(writer)
    this.#sightings = new ContextSightings({
      writer,
      privacyOf: (environmentId) => cache.privacyOf(environmentId),
      organizationOf: (environmentId) => this.#organizations.organizationOf(environmentId),
    })
  }

  get stats(): UsageStats {
    return {
      dropped: {
        evaluations: this.#counts.dropped,
        contexts: this.#sightings.dropped,
        requests: this.#organizations.dropped,
        flags: this.#organizations.droppedFlags,
        users: this.#users.dropped,
      },
      pending: this.#counts.size + this.#sightings.size + this.#organizations.size,
    }
  }

  /** Somebody asked for an evaluation, whatever was answered. */
  requested(scope: FlagSetScope): void {
    this.#usageOf(scope).requests += 1
    this.#arm()
  }

  /** Somebody was answered. The hash is of the context; worked out when it is not given. */
  evaluated(
    scope: FlagSetScope,
    source: ContextSample['source'],
    evaluated: Evaluated,
    hash = contextHashOf(scope, JSON.stringify(evaluated.context)),
  ): void {
    const now = this.#clock.now()
    const { environmentId } = scope
    this.#count(scope, source, evaluated, now)
    const sight = { environmentId, contextHash: hash, source, now }
    if (this.#sightings.see(evaluated, sight)) this.#addUser(environmentId, evaluated, now)
    this.#arm()
  }

  /**
   * A live client, which was told everything before, was told of these flags. `audience` is the same
   * object for as long as clients have this context.
   */
  pushed(scope: FlagSetScope, evaluated: Evaluated, audience: WeakKey): void {
    const now = this.#clock.now()
    const { environmentId } = scope
    this.#count(scope, 'ws', evaluated, now)
    const hour = Math.floor(now / HOUR_MS)
    if (this.#told.hour !== hour) this.#told = { hour, audiences: new WeakSet() }
    if (!this.#told.audiences.has(audience)) {
      this.#told.audiences.add(audience)
      const { key } = personOf(evaluated.context)
      if (key !== '') this.#users.add({ environmentId, flagId: null }, key, now)
    }
    this.#arm()
  }

  /** Records what an application has evaluated itself. */
  reported({ environmentId, source, counts }: UsageReport): void {
    const now = this.#clock.now()
    for (const { contextKeys, ...count } of counts) {
      this.#pend({ ...count, environmentId, source })
      const owner = { environmentId, flagId: count.flagId }
      for (const key of contextKeys) this.#users.add(owner, key, now)
    }
    this.#arm()
  }

  /** Writes what there is now; resolves, whether or not that was possible, when it has ended. */
  async flush(): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing
    await this.#write(true)
  }

  /** Writes what there is, but does not wait for it very long; nothing is written afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancel?.()
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.schedule(CLOSE_WITHIN_MS, resolve)
      void this.flush().then(() => {
        cancel()
        resolve()
      })
    })
    const { stats } = this
    if (stats.pending > 0) this.#logger.warn('some usage could not be written', { ...stats })
  }

  #usageOf({ environmentId, kind }: FlagSetScope): EnvironmentUsage {
    const known = this.#environments[kind].get(environmentId)
    if (known !== undefined) return known
    const usage = { environmentId, requests: 0, counters: undefined, minute: 0, timestamp: '' }
    this.#environments[kind].set(environmentId, usage)
    return usage
  }

  #count(
    scope: FlagSetScope,
    source: EvaluationSource,
    { flagSet, evaluation, micros }: Evaluated,
    now: number,
  ): void {
    const usage = this.#usageOf(scope)
    const minute = Math.floor(now / MINUTE_MS)
    const isGood = usage.counters?.flagSet === flagSet && usage.minute === minute
    if (!isGood) this.#turn(usage, flagSet, minute)
    usage.counters?.add(evaluation, source, micros)
    this.#metrics.observeEvaluation(micros)
  }

  /** Begins to count for another minute or another flag set, of which most flags are the same. */
  #turn(usage: EnvironmentUsage, flagSet: FlagSet, minute: number): void {
    const { environmentId, counters, timestamp } = usage
    const pend = (count: FlagCount) => this.#pend({ ...count, environmentId, minute: timestamp })
    if (usage.minute !== minute) for (const count of counters?.drain() ?? []) pend(count)
    if (counters === undefined) usage.counters = new EvaluationCounters(flagSet)
    else if (counters.flagSet !== flagSet) counters.moveTo(flagSet).forEach(pend)
    if (usage.minute === minute) return
    usage.minute = minute
    usage.timestamp = new Date(minute * MINUTE_MS).toISOString()
  }

  #addUser(environmentId: string, { flagSet, context, evaluation }: Evaluated, now: number): void {
    const { key } = personOf(context)
    if (key === '') return
    const { flags } = evaluation
    const isWhole = flags === flagSet.ordered
    const owners = isWhole ? [null] : flags.map(({ definition }) => definition.id)
    for (const flagId of owners) this.#users.add({ environmentId, flagId }, key, now)
  }

  #pend(count: EvaluationCount): void {
    this.#counts.add(count)
    this.#organizations.markFlag(count.environmentId, count.flagId, Date.parse(count.minute))
  }

  /** In slices: what a thousand flags have counted takes as long as some fifty requests. */
  #collect(): Promise<void> {
    return inSlices(this.#drain(), (count) => this.#pend(count))
  }

  *#drain(): Generator<EvaluationCount, void> {
    for (const environments of Object.values(this.#environments))
      yield* this.#drainAll(environments)
  }

  *#drainAll(environments: Map<string, EnvironmentUsage>): Generator<EvaluationCount, void> {
    for (const usage of [...environments.values()]) {
      const { environmentId, counters, requests } = usage
      usage.requests = 0
      if (requests > 0) this.#organizations.addRequests(environmentId, requests)
      if (counters?.hasNews === true) {
        for (const count of counters.drain()) {
          yield { ...count, environmentId, minute: usage.timestamp }
        }
      } else if (requests === 0) environments.delete(environmentId)
    }
  }

  #arm(): void {
    if (this.#cancel !== undefined || this.#isClosed) return
    this.#cancel = this.#clock.schedule(GATHER_MS, () => {
      this.#cancel = undefined
      if (this.#flushing === undefined) void this.#write(false)
      else this.#arm()
    })
  }

  /** One batch at a time. */
  #write(everything: boolean): Promise<void> {
    this.#flushing = this.#writeAll(everything).finally(() => {
      this.#flushing = undefined
      if (this.stats.pending > 0 || this.#users.hasChanges) this.#arm()
    })
    return this.#flushing
  }

  /** Each kind for itself: what is wrong with one does not keep the others from being written. */
  async #writeAll(everything: boolean): Promise<void> {
    await this.#collect()
    const now = this.#clock.now()
    const outcomes = [
      await this.#attempt(() => this.#counts.write(this.#storage)),
      await this.#attempt(() => this.#sightings.write(this.#storage)),
      await this.#attempt(() => this.#organizations.write()),
      await this.#attempt(() => this.#users.write(this.#storage, now, everything)),
    ]
    const [failure] = outcomes.filter((outcome) => outcome !== undefined)
    this.#report(failure?.cause)
  }

  /** Undefined when it went well. */
  async #attempt(write: () => Promise<void>): Promise<{ readonly cause: unknown } | undefined> {
    try {
      await write()
      return undefined
    } catch (cause) {
      return { cause }
    }
  }

  /** Once, and once that it is over. */
  #report(cause: unknown): void {
    const trouble = cause === undefined ? undefined : String(cause)
    if (trouble === this.#trouble) return
    this.#trouble = trouble
    if (trouble === undefined) this.#logger.info('usage can be written again')
    else this.#logger.error('usage could not be written; some of it waits', { cause })
  }
}
