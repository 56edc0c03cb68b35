import { stepsTaken } from '../rollouts/gradual-rollout.ts'
import { dependentsOf } from './dependency-graph.ts'
import type { FlagSet } from './flag-set.ts'
import { flagName } from './references.ts'

/**
 * How many of the set's timestamps lie at or before `now` (epoch milliseconds). While version and
 * step stay the same, every context keeps its answers.
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

/** The first timestamp after `now`; undefined: nothing will change without a new version. */
export function nextTimestamp(
  flagSet: Pick<FlagSet, 'timestamps'>,
  now: number,
): number | undefined {
  return flagSet.timestamps[stepAt(flagSet, now)]
}

/**
 * The keys of the flags whose answers may differ between two timestamps because of a gradual
 * rollout, their own or that of a flag they depend on; in the order of the set.
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
