import { stepsTaken } from '../rollouts/ramp.ts'
import { dependentsOf } from './dependency.ts'
import type { FlagSet } from './flag-set.ts'
import { flagName } from './links.ts'

/**
 * How many of the set's instants lie at or before `now` (epoch milliseconds). While version and
 * step stay the same, every context keeps its answers.
 */
export function stepAt({ instants }: Pick<FlagSet, 'instants'>, now: number): number {
  let low = 0
  let high = instants.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((instants[middle] ?? 0) <= now) low = middle + 1
    else high = middle
  }
  return low
}

/** The first instant after `now`; undefined: nothing will change without a new version. */
export function nextInstant(flagSet: Pick<FlagSet, 'instants'>, now: number): number | undefined {
  return flagSet.instants[stepAt(flagSet, now)]
}

/**
 * The keys of the flags whose answers may differ between two instants because of a gradual
 * rollout, their own or that of a flag they depend on; in the order of the set.
 */
export function rampingFlags(flagSet: FlagSet, after: number, upTo: number): readonly string[] {
  const ramping = [...flagSet.flagsByKey.values()].filter(({ definition, ramps }) => {
    const hasStepped = ramps.some((ramp) => stepsTaken(ramp, after) !== stepsTaken(ramp, upTo))
    return definition.isActive && hasStepped
  })
  const names = ramping.map(({ key }) => flagName(key))
  const affected = dependentsOf(flagSet.dependencies.nodes, names)
  return flagSet.ordered.map(({ key }) => key).filter((key) => affected.has(flagName(key)))
}
