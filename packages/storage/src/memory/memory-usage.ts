import { compareCodePoints } from '@ff/core'
import type {
  ApiCalls,
  EvaluationCount,
  EvaluationCountQuery,
  EvaluationTotal,
} from '../ports/usage.ts'
import { apiCallsName, mergeApiCalls } from '../usage/api-calls.ts'
import { countName, mergeCounts, sumOf, totalsOf } from '../usage/evaluation-counts.ts'
import { Overlay } from './overlay.ts'

/** The committed numbers of a memory store, by the name of each number. */
export interface UsageState {
  readonly counts: Map<string, EvaluationCount>
  readonly apiCalls: Map<string, ApiCalls>
}

/** The evaluation counts and the API calls that a session of a memory store sees. */
export class MemoryUsage {
  readonly #counts: Overlay<EvaluationCount>
  readonly #apiCalls: Overlay<ApiCalls>

  constructor({ counts, apiCalls }: UsageState) {
    this.#counts = new Overlay(counts)
    this.#apiCalls = new Overlay(apiCalls)
  }

  addCounts(counts: readonly EvaluationCount[]): void {
    for (const count of mergeCounts(counts)) {
      const name = countName(count)
      // Later changes by the caller must not affect the stored count.
      this.#counts.set(name, sumOf(this.#counts.get(name), { ...count }))
    }
  }

  totals({ environmentId, flagId, from, to }: EvaluationCountQuery): readonly EvaluationTotal[] {
    const counts = [...this.#counts.values()].filter(
      (count) =>
        count.environmentId === environmentId &&
        count.flagId === flagId &&
        compareCodePoints(count.minute, from) >= 0 &&
        compareCodePoints(count.minute, to) < 0,
    )
    return totalsOf(counts)
  }

  dropCounts(beforeMinute: string): void {
    for (const [name, { minute }] of this.#counts.entries()) {
      if (compareCodePoints(minute, beforeMinute) < 0) this.#counts.delete(name)
    }
  }

  addApiCalls(given: readonly ApiCalls[]): void {
    for (const each of mergeApiCalls(given)) {
      const name = apiCallsName(each)
      const before = this.#apiCalls.get(name)?.calls ?? 0
      this.#apiCalls.set(name, { ...each, calls: before + each.calls })
    }
  }

  apiCalls(organizationIds?: readonly string[]): ReadonlyMap<string, number> {
    const wanted = organizationIds && new Set(organizationIds)
    const sums = new Map<string, number>()
    for (const { organizationId, calls } of this.#apiCalls.values()) {
      if (wanted?.has(organizationId) === false) continue
      sums.set(organizationId, (sums.get(organizationId) ?? 0) + calls)
    }
    return sums
  }

  takeApiCalls(organizationId: string): number {
    const taken = this.apiCalls([organizationId]).get(organizationId) ?? 0
    for (const [name, each] of this.#apiCalls.entries()) {
      if (each.organizationId === organizationId) this.#apiCalls.delete(name)
    }
    return taken
  }

  /** Applies all changes to the committed state. */
  commit(): void {
    this.#counts.commit()
    this.#apiCalls.commit()
  }
}
