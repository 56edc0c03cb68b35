import type { FlagSet } from '@ff/core'
import type { EvaluationCount, EvaluationSource } from '@ff/storage'
import type { FlagSetScope, SdkKeyKind } from '../access/sdk-keys.ts'
import type { Evaluated } from '../evaluation/evaluated.ts'
import { EvaluationCounters, type FlagCount } from './evaluation-counters.ts'

const MINUTE_MS = 60_000

interface EnvironmentUsageOptions {
  /** Receives counts that do not fit the next minute or flag set. */
  readonly addCount: (count: EvaluationCount) => void
  readonly addRequests: (usage: {
    readonly environmentId: string
    readonly requests: number
  }) => void
}

/** The usage of one environment and kind of key since it was last drained. */
interface Usage {
  readonly environmentId: string
  requests: number
  counters: EvaluationCounters | undefined
  /** The minute of `counters`, since the epoch. */
  minute: number
  /** The beginning of that minute. */
  timestamp: string
}

/** Counts requests and evaluations for each environment in this minute. */
export class EnvironmentUsage {
  readonly #options: EnvironmentUsageOptions
  /** By kind of key, whose flag sets differ, and environment. */
  readonly #usages: Readonly<Record<SdkKeyKind, Map<string, Usage>>> = {
    client: new Map(),
    server: new Map(),
  }

  constructor(options: EnvironmentUsageOptions) {
    this.#options = options
  }

  addRequest(scope: FlagSetScope): void {
    this.#usageOf(scope).requests += 1
  }

  /** Counts an evaluation at `now`, in epoch milliseconds. */
  add(
    scope: FlagSetScope,
    { flagSet, evaluation, micros }: Evaluated,
    { source, now }: { readonly source: EvaluationSource; readonly now: number },
  ): void {
    const usage = this.#usageOf(scope)
    const minute = Math.floor(now / MINUTE_MS)
    const isCurrent = usage.counters?.flagSet === flagSet && usage.minute === minute
    if (!isCurrent) this.#advance(usage, flagSet, minute)
    usage.counters?.add(evaluation, source, micros)
  }

  /** Takes out the counts, one flag after another, and passes on the requests. */
  *drain(): Generator<EvaluationCount, void> {
    for (const usages of Object.values(this.#usages)) yield* this.#drainAll(usages)
  }

  *#drainAll(usages: Map<string, Usage>): Generator<EvaluationCount, void> {
    for (const usage of [...usages.values()]) {
      const { environmentId, counters, requests } = usage
      usage.requests = 0
      if (requests > 0) this.#options.addRequests({ environmentId, requests })
      if (counters?.hasNews === true) {
        for (const count of counters.drain()) {
          yield { ...count, environmentId, minute: usage.timestamp }
        }
      } else if (requests === 0) usages.delete(environmentId)
    }
  }

  #usageOf({ environmentId, kind }: FlagSetScope): Usage {
    const known = this.#usages[kind].get(environmentId)
    if (known !== undefined) return known
    const usage = { environmentId, requests: 0, counters: undefined, minute: 0, timestamp: '' }
    this.#usages[kind].set(environmentId, usage)
    return usage
  }

  /** Begins to count for another minute, or another flag set, most flags of which are the same. */
  #advance(usage: Usage, flagSet: FlagSet, minute: number): void {
    const { environmentId, counters, timestamp } = usage
    const pass = (count: FlagCount) =>
      this.#options.addCount({ ...count, environmentId, minute: timestamp })
    if (usage.minute !== minute) for (const count of counters?.drain() ?? []) pass(count)
    if (counters === undefined) usage.counters = new EvaluationCounters(flagSet)
    else if (counters.flagSet !== flagSet) counters.moveTo(flagSet).forEach(pass)
    if (usage.minute === minute) return
    usage.minute = minute
    usage.timestamp = new Date(minute * MINUTE_MS).toISOString()
  }
}
