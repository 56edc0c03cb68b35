import { stepsTaken } from '../rollouts/gradual-rollout.ts'
import { dependentsOf } from './dependency-graph.ts'
import type { FlagSet } from './flag-set.ts'
import { flagName } from './references.ts'

/**
 * Returns the number of timestamps of a flag set at or before `now` (epoch milliseconds). While the
 * version and this number stay the same, all results stay the same.
 */
export function stepAt({ timestamps }: Pick<FlagSet, 'timestamps'>, now: number): number {
  let low = 0
  let high = timestamps.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((timestamps[middle] ?? 0) <= now) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Returns the first timestamp of a flag set after `now`, both in epoch milliseconds. `undefined` if
 * no gradual rollout has a later step.
 */
export function nextTimestamp(
  flagSet: Pick<FlagSet, 'timestamps'>,
  now: number,
): number | undefined {
  return flagSet.timestamps[stepAt(flagSet, now)]
}

/**
 * Returns the keys of the flags that can have different results at the times `after` and `upTo`,
 * because a gradual rollout has a step after `after` and at or before `upTo` (epoch milliseconds).
 * The gradual rollout belongs to the flag or to one of its dependencies. The keys have the order of
 * the flag set.
 */
export function changedByGradualRollouts(
  flagSet: FlagSet,
  after: number,
  upTo: number,
): readonly string[] {
  const stepping = [...flagSet.flagsByKey.values()].filter(({ definition, gradualRollouts }) => {
    const hasStepped = gradualRollouts.some(
      (gradual) => stepsTaken(gradual, after) !== stepsTaken(gradual, upTo),
    )
    return definition.isActive && hasStepped
  })
  const names = stepping.map(({ key }) => flagName(key))
  const affected = dependentsOf(flagSet.dependencies.nodes, names)
  return flagSet.ordered.map(({ key }) => key).filter((key) => affected.has(flagName(key)))
}
