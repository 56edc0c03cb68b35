import type { EvaluationSource } from '@ff/storage'
import type { FlagSetScope, SdkKeyKind } from '../access/scope.ts'
import type { Evaluated } from '../evaluation/evaluated.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import { EvaluationCounters, minuteOf, type OwnCount } from './evaluation-counters.ts'

/**
 * The maximum number of counters of earlier periods or flag sets of one environment and kind of key.
 * Each has 12 bytes for each outcome of each flag.
 */
const MOST_EARLIER = 4

interface EnvironmentUsageOptions {
  /** Called with the oldest counts of an environment if it has too many counters. */
  readonly addCount: (count: OwnCount) => void
  /** Called with the number of requests of an environment. */
  readonly addRequests: (usage: Pick<Usage, 'environmentId' | 'requests'>) => void
}

/** The usage of one environment and kind of key that was not taken yet. */
interface Usage {
  readonly environmentId: string
  requests: number
  counters: EvaluationCounters | undefined
  /** The counters of earlier minutes or flag sets, oldest first. */
  readonly earlier: EvaluationCounters[]
}

/**
 * The usage of an environment by kind of key. The kinds are separate because their flag sets differ.
 */
type UsageByKind = { [K in SdkKeyKind]?: Usage }

/**
 * Counts the requests and evaluations of each environment. The counts stay in arrays until they are
 * written, so that their memory depends on the number of flags, not on the number of evaluations. If
 * they wait for more than a minute, the counts of a quarter of an hour are added up.
 */
export class EnvironmentUsage {
  readonly #options: EnvironmentUsageOptions
  /** The environments, beginning with the one whose counts have waited for the longest time. */
  readonly #environments = new Map<string, UsageByKind>()

  constructor(options: EnvironmentUsageOptions) {
    this.#options = options
  }

  /** `true` if there are counts that `drain` has not yielded. */
  get hasCounts(): boolean {
    for (const usages of this.#environments.values()) {
      if (Object.values(usages).some(hasCounts)) return true
    }
    return false
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
      if (usage.counters?.hasNews === true) this.#keep(usage, usage.counters)
      usage.counters = new EvaluationCounters(flagSet, now)
    }
    usage.counters.add(evaluation, source, micros)
  }

  /** Passes the requests to `addRequests`, and forgets environments without usage. */
  takeRequests(): void {
    for (const [environmentId, usages] of this.#environments) {
      let isUsed = false
      for (const usage of Object.values(usages)) {
        const { requests } = usage
        usage.requests = 0
        if (requests > 0) this.#options.addRequests({ environmentId, requests })
        isUsed ||= requests > 0 || hasCounts(usage)
      }
      if (!isUsed) this.#environments.delete(environmentId)
    }
  }

  /**
   * Removes and yields the counts, one flag after another, beginning with the environment whose
   * counts have waited for the longest time. The iteration can end early.
   */
  *drain(): Generator<OwnCount, void> {
    for (const environmentId of [...this.#environments.keys()]) {
      const usages = this.#environments.get(environmentId) ?? {}
      for (const usage of Object.values(usages)) {
        const { earlier } = usage
        for (let oldest = earlier[0]; oldest !== undefined; oldest = earlier[0]) {
          yield* oldest.drain(environmentId)
          // Meanwhile, counts may have been added, or the counters may have been removed.
          if (!oldest.hasNews && earlier[0] === oldest) earlier.shift()
        }
        if (usage.counters?.hasNews === true) yield* usage.counters.drain(environmentId)
      }
      this.#environments.delete(environmentId)
      this.#environments.set(environmentId, usages)
    }
  }

  /**
   * Passes the counts of an environment to `addCount`, so that they do not keep its flag sets in
   * memory.
   */
  release(environmentId: string): void {
    for (const usage of Object.values(this.#environments.get(environmentId) ?? {})) {
      const { earlier, counters } = usage
      for (const each of [...earlier, ...(counters === undefined ? [] : [counters])]) {
        for (const count of each.drain(environmentId)) this.#options.addCount(count)
      }
      earlier.length = 0
      usage.counters = undefined
    }
  }

  #keep({ environmentId, earlier }: Usage, counters: EvaluationCounters): void {
    if (earlier.at(-1)?.absorb(counters) !== true) earlier.push(counters)
    if (earlier.length <= MOST_EARLIER) return
    for (const count of earlier.shift()?.drain(environmentId) ?? []) this.#options.addCount(count)
  }

  #usageOf({ environmentId, kind }: FlagSetScope): Usage {
    const usages = getOrInsert(this.#environments, environmentId, (): UsageByKind => ({}))
    usages[kind] ??= { environmentId, requests: 0, counters: undefined, earlier: [] }
    return usages[kind]
  }
}

function hasCounts({ counters, earlier }: Usage): boolean {
  return counters?.hasNews === true || earlier.some(({ hasNews }) => hasNews)
}
