import type { EvaluationContext } from '@ff/core'
import type { ContextSample, Storage } from '@ff/storage'
import type { FlagSetScope } from '../access/scope.ts'
import { newId } from '../access/secrets.ts'
import { contextHashOf } from '../evaluation/entity-tag.ts'
import type { Evaluated, EvaluationAnswer } from '../evaluation/evaluated.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import { MAX_COUNT_ROWS } from '../runtime/memory-bounds.ts'
import { runInTimeSlices } from '../runtime/time-slice.ts'
import { BatchBuffer } from './batch-buffer.ts'
import { ContextSampler } from './context-sampler.ts'
import { EnvironmentUsage } from './environment-usage.ts'
import { COARSER_COUNTS, nameOfCount, type OwnCount } from './evaluation-counters.ts'
import { OrganizationUsage } from './organization-usage.ts'
import { personOf } from './pending-sample.ts'
import { UserSketches } from './user-sketches.ts'
import { type Remainder, WriteSchedule } from './write-schedule.ts'

/** The maximum number of counts that are written in one call of the store. */
const COUNTS_A_CALL = 1000

/**
 * The number of counts from which no further ones are taken from the arrays of environments until
 * these are written.
 */
const COUNTS_A_WRITE = 5000

/** The maximum length of the JSON text of a context that is used as its name. */
const MAX_NAME_LENGTH = 1000

/** The part of the metrics that the recorder updates. */
interface EvaluationMetrics {
  observeEvaluation(micros: number): void
}

interface UsageRecorderOptions {
  readonly storage: Storage
  readonly cache: Pick<FlagSetCache, 'samplingOf' | 'listenToDrops'>
  readonly metrics: EvaluationMetrics
  readonly clock: Clock
  readonly logger: Logger
}

/** A report of evaluations that took place in an application. */
interface UsageReport {
  readonly environmentId: string
  /** `client` if the report was sent with a client key. */
  readonly source: 'sdk' | 'client'
  readonly counts: readonly ReportedCount[]
}

/** The number of times that a flag had one outcome in a minute, as reported by an application. */
export interface ReportedCount extends Omit<OwnCount, 'environmentId' | 'source'> {
  /** The keys of the evaluated contexts, which are counted as users of the flag. */
  readonly contextKeys: readonly string[]
}

/**
 * Records evaluations and writes them in batches (see `WriteSchedule`). Recording never waits and
 * never fails. While the store is slow or unavailable, usage stays pending up to fixed limits.
 * Further usage is dropped, and the dropped usage is counted.
 */
export class UsageRecorder {
  readonly #metrics: EvaluationMetrics
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #environments: EnvironmentUsage
  /**
   * The evaluation counts that are not yet written to the store, one row per outcome and minute.
   */
  readonly #counts: BatchBuffer<OwnCount>
  readonly #organizations: OrganizationUsage
  readonly #contexts: ContextSampler
  readonly #users: UserSketches
  /** The last failure. It is kept so that a repeated failure is logged only once. */
  #failure: string | undefined
  readonly #schedule: WriteSchedule

  constructor({ storage, cache, metrics, clock, logger }: UsageRecorderOptions) {
    this.#metrics = metrics
    this.#clock = clock
    this.#logger = logger
    const instanceId = newId()
    this.#counts = new BatchBuffer<OwnCount>({
      nameOf: nameOfCount,
      merge: ({ count, micros }, later) => {
        return { ...later, count: count + later.count, micros: micros + later.micros }
      },
      coarser: COARSER_COUNTS,
      ...{ maxRows: MAX_COUNT_ROWS, rowsACall: COUNTS_A_CALL, logger },
      write: (rows) => writeCounts(storage, rows, instanceId),
      drop: ({ count }) => count,
    })
    this.#organizations = new OrganizationUsage({ storage, logger, instanceId })
    this.#users = new UserSketches({ storage, logger, instanceId })
    this.#environments = new EnvironmentUsage({
      addCount: (count) => this.#addCount(count),
      addRequests: (row) => this.#organizations.requests.add(row),
    })
    this.#contexts = new ContextSampler({
      ...{ storage, logger },
      rulesOf: (environmentId) => cache.samplingOf(environmentId),
      organizationOf: (environmentId) => this.#organizations.organizationOf(environmentId),
    })
    // Usage must not keep the flag sets of an environment in memory.
    cache.listenToDrops((environmentId) => {
      this.#environments.release(environmentId)
      this.#contexts.release(environmentId)
    })
    this.#schedule = new WriteSchedule({
      clock,
      // Only the writing of all usage reports a success.
      writeContexts: () => this.#contexts.write().catch((cause: unknown) => this.#report(cause)),
      writeAll: (everything) => this.#writeAll(everything),
    })
  }

  /**
   * The amount of usage that is pending, and the amount that was dropped because there was no room
   * or the store refused it.
   */
  get stats() {
    const { requests, droppedMarks } = this.#organizations
    return {
      dropped: {
        evaluations: this.#counts.dropped,
        contexts: this.#contexts.dropped,
        requests: requests.dropped,
        // The number of last evaluation times of flags that were dropped.
        flags: droppedMarks,
        users: this.#users.dropped,
      },
      // The number of evaluation counts, context samples, and environments with request counts.
      pending: this.#counts.size + this.#contexts.size + requests.size,
    }
  }

  /** Counts a request for an evaluation, independently of its reply. */
  requested(scope: FlagSetScope): void {
    this.#environments.addRequest(scope)
    this.#schedule.arm()
  }

  /**
   * Records the evaluation of a reply. Does nothing if nothing was evaluated because the client
   * already had the values.
   */
  answered(
    scope: FlagSetScope,
    source: ContextSample['source'],
    { evaluated, tag }: EvaluationAnswer,
  ): void {
    if (evaluated !== undefined) this.evaluated(scope, source, evaluated, tag.contextHash)
  }

  /**
   * Records an evaluation for a reply or for a caller in process. `contextName` identifies the
   * context; replies pass its hash, which they contain.
   */
  evaluated(
    scope: FlagSetScope,
    source: ContextSample['source'],
    evaluated: Evaluated,
    contextName = contextNameOf(scope, evaluated.context),
  ): void {
    const now = this.#count(scope, source, evaluated)
    const { environmentId } = scope
    this.#contexts.observe(evaluated, { environmentId, contextName, source, now })
  }

  /** Records changes that were sent to a live client. Its context is not observed again. */
  pushed(scope: FlagSetScope, evaluated: Evaluated): void {
    this.#count(scope, 'ws', evaluated)
  }

  /** Records evaluations that an application reports. */
  reported({ environmentId, source, counts }: UsageReport): void {
    const now = this.#clock.now()
    for (const { contextKeys, ...count } of counts) {
      this.#addCount({ ...count, environmentId, source })
      for (const key of contextKeys) {
        this.#users.addToFlags({ environmentId, key, now }, [count.flagId])
      }
    }
    this.#schedule.arm()
  }

  /** Writes all pending usage. Resolves when the attempt has ended, even if it failed. */
  flush(): Promise<void> {
    return this.#schedule.flush()
  }

  /** Writes all pending usage within a limited time. Nothing is written afterwards. */
  async close(): Promise<void> {
    await this.#schedule.close()
    const { stats } = this
    let uncounted = 0
    for (const { count } of this.#environments.drain()) uncounted += count
    if (stats.pending === 0 && uncounted === 0) return
    this.#logger.warn('Some usage could not be written', { ...stats, uncounted })
  }

  /** Counts an evaluation and its user, and returns the current time. */
  #count(scope: FlagSetScope, source: ContextSample['source'], evaluated: Evaluated): number {
    const now = this.#clock.now()
    this.#environments.add(scope, evaluated, { source, now })
    this.#addUser(scope, evaluated, now)
    this.#metrics.observeEvaluation(evaluated.micros)
    this.#schedule.arm()
    return now
  }

  #addUser(scope: FlagSetScope, { flagSet, context, evaluation }: Evaluated, now: number): void {
    const { key } = personOf(context)
    if (key === '') return
    const { environmentId, kind } = scope
    const { flags } = evaluation
    const user = { environmentId, key, now }
    // A list of other flags is shorter, because each flag occurs once.
    if (flags.length === flagSet.ordered.length) this.#users.addToAll(user, { kind, flagSet })
    else {
      const flagIds = flags.map(({ definition }) => definition.id)
      this.#users.addToFlags(user, flagIds, { kind, flagSet })
    }
  }

  #addCount(count: OwnCount): void {
    this.#counts.add(count)
    this.#organizations.markFlag(count.environmentId, count.flagId, Date.parse(count.minute))
  }

  /**
   * Writes each kind of usage separately, so that the failure of one kind does not prevent the
   * others from being written. Resolves with the usage that remains.
   */
  async #writeAll(everything: boolean): Promise<Remainder> {
    const now = this.#clock.now()
    this.#environments.takeRequests()
    const { requests } = this.#organizations
    const failures: unknown[] = []
    for (const write of [
      () => this.#writeCounts(everything),
      () => this.#contexts.write(),
      () => requests.flush(),
      () => this.#organizations.writeMarks(),
      () => this.#users.write(now, everything),
    ]) {
      await write().catch((cause: unknown) => failures.push(cause))
    }
    this.#report(failures[0])
    if (this.#environments.hasCounts && failures.length === 0) return 'many'
    const { hasMarks } = this.#organizations
    return this.stats.pending > 0 || hasMarks || this.#users.hasChanges ? 'some' : 'none'
  }

  /** Writes the counts that have waited for the longest time, or all of them. */
  async #writeCounts(everything: boolean): Promise<void> {
    do {
      // With many flags, adding the counts takes as long as many requests.
      await runInTimeSlices(this.#takeCounts())
      await this.#counts.flush()
    } while (everything && this.#environments.hasCounts)
  }

  *#takeCounts(): Generator<undefined, void> {
    if (this.#counts.size >= COUNTS_A_WRITE) return
    for (const count of this.#environments.drain()) {
      this.#addCount(count)
      if (this.#counts.size >= COUNTS_A_WRITE) return
      yield
    }
  }

  /** Logs each new failure, and the first success after it. */
  #report(cause: unknown): void {
    const failure = cause === undefined ? undefined : String(cause)
    if (failure === this.#failure) return
    this.#failure = failure
    if (failure === undefined) this.#logger.info('Usage can be written again')
    else this.#logger.error('Some usage could not be written and stays pending', { cause })
  }
}

/** Returns the JSON text of a context, which takes less time than a hash, or the hash if it is long. */
function contextNameOf(scope: FlagSetScope, context: EvaluationContext): string {
  const text = JSON.stringify(context)
  return text.length > MAX_NAME_LENGTH ? contextHashOf(scope, text) : text
}

async function writeCounts(
  storage: Storage,
  rows: readonly OwnCount[],
  instanceId: string,
): Promise<undefined> {
  await storage.addEvaluationCounts(rows.map((row) => ({ ...row, instanceId })))
}
