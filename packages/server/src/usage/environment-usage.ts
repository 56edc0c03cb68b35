import type { EvaluationSource } from '@ff/storage'
import type { FlagSetScope, SdkKeyKind } from '../access/scope.ts'
import type { Evaluated } from '../evaluation/evaluated.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import { EvaluationCounters, minuteOf, type OwnCount } from './evaluation-counters.ts'

interface EnvironmentUsageOptions {
  /** Called with counts that belong to an earlier minute or flag set. */
  readonly addCount: (count: OwnCount) => void
  /** Called with the number of requests of an environment. */
  readonly addRequests: (usage: Pick<Usage, 'environmentId' | 'requests'>) => void
}

/** The usage of one environment and kind of key since the last drain. */
interface Usage {
  readonly environmentId: string
  requests: number
  counters: EvaluationCounters | undefined
}

/** Counts the requests and evaluations of each environment. */
export class EnvironmentUsage {
  readonly #options: EnvironmentUsageOptions
  /**
   * The usage by kind of key and environment. The kinds are separate because their flag sets
   * differ.
   */
  readonly #usages: Readonly<Record<SdkKeyKind, Map<string, Usage>>> = {
    client: new Map(),
    server: new Map(),
  }

  constructor(options: EnvironmentUsageOptions) {
    this.#options = options
  }

  /** Counts a request. */
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
    if (usage.counters?.flagSet !== flagSet || usage.counters.minute !== minuteOf(now)) {
      const earlier = usage.counters?.drain(scope.environmentId) ?? []
      for (const count of earlier) this.#options.addCount(count)
      usage.counters = new EvaluationCounters(flagSet, now)
    }
    usage.counters.add(evaluation, source, micros)
  }

  /**
   * Removes and yields the counts, one flag after another. Passes the requests to `addRequests`.
   */
  *drain(): Generator<OwnCount, void> {
    for (const usages of Object.values(this.#usages)) {
      for (const usage of [...usages.values()]) {
        const { environmentId, counters, requests } = usage
        usage.requests = 0
        if (requests > 0) this.#options.addRequests({ environmentId, requests })
        if (counters?.hasNews === true) yield* counters.drain(environmentId)
        else if (requests === 0) usages.delete(environmentId)
      }
    }
  }

  #usageOf({ environmentId, kind }: FlagSetScope): Usage {
    return getOrInsert(this.#usages[kind], environmentId, () => {
      return { environmentId, requests: 0, counters: undefined }
    })
  }
}
