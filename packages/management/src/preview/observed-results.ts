import type { EvaluationContext, FlagSet } from '@ff/core'
import { evaluateAll, variationAt } from '@ff/core/all-flags'
import { runInTimeSlices } from '@ff/server/plane'
import type { Records } from '@ff/storage'
import type { PublishedFlagSets } from './published-flag-sets.ts'

type ObservedContext = Records['observedContext']

/** Evaluates observed contexts, because the store does not contain their results. */
export class ObservedResults {
  readonly #flagSets: PublishedFlagSets

  constructor(flagSets: PublishedFlagSets) {
    this.#flagSets = flagSets
  }

  /**
   * Returns what the newest version of the environment of each context serves to it at `now`, in
   * epoch milliseconds: a JSON object that maps each flag key to the key of the served variation, or
   * `null`. The results are in the order of the contexts.
   */
  async of(contexts: readonly ObservedContext[], now: number): Promise<readonly string[]> {
    const results = new Map<ObservedContext, string>()
    for (const [environmentId, observed] of byEnvironment(contexts)) {
      const flagSet = await this.#flagSets.load(environmentId)
      await runInTimeSlices(
        evaluateEach(flagSet, observed, { now, results }),
        this.#flagSets.slices,
      )
    }
    return contexts.map((context) => results.get(context) ?? '{}')
  }
}

function byEnvironment(
  contexts: readonly ObservedContext[],
): ReadonlyMap<string, readonly ObservedContext[]> {
  const groups = new Map<string, ObservedContext[]>()
  for (const context of contexts) {
    const group = groups.get(context.environmentId)
    if (group === undefined) groups.set(context.environmentId, [context])
    else group.push(context)
  }
  return groups
}

function* evaluateEach(
  flagSet: FlagSet,
  contexts: readonly ObservedContext[],
  { now, results }: { readonly now: number; readonly results: Map<ObservedContext, string> },
): Generator<undefined, void> {
  for (const observed of contexts) {
    const evaluation = evaluateAll(flagSet, observed.contextJson as EvaluationContext, now)
    const served = evaluation.flags.map(({ key }, index) => {
      return [key, variationAt(evaluation, index)?.key ?? null] as const
    })
    results.set(observed, JSON.stringify(Object.fromEntries(served)))
    yield
  }
}
