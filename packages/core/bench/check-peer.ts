import { evaluateAll, valuesOf } from '../src/all-flags.ts'
import { BUCKETS, compileFlagSet, type FlagSetDefinition } from '../src/index.ts'
import type { PeerContext, Prepared } from './peer.ts'
import { NOW } from './workload.ts'

/**
 * Throws if a peer and the engine have different values for a flag that rules decide. If a rollout
 * decides, a peer must serve about half of the users, because each engine has another hash.
 */
export async function checkPeer(
  name: string,
  prepared: Prepared,
  definition: FlagSetDefinition,
  users: readonly PeerContext[],
): Promise<void> {
  const on = compileFlagSet(withRollouts(definition, 0))
  const off = compileFlagSet(withRollouts(definition, 1))
  const firstKey = definition.flags[0]?.key ?? ''
  let decided = 0
  let served = 0
  for (const user of users) {
    const context = prepared.contextOf(user)
    const values = prepared.read(await prepared.values(context))
    const ifOn = valuesOf(evaluateAll(on, user, NOW))
    const ifOff = valuesOf(evaluateAll(off, user, NOW))
    for (const { key } of definition.flags) {
      const value = values[key]
      if (value !== ifOn[key] && value !== ifOff[key]) {
        throw new Error(`${name} returns ${value} for ${key} and the user ${user.key}`)
      }
      if (ifOn[key] !== ifOff[key]) {
        decided += 1
        if (value === true) served += 1
      }
    }
    if ((await prepared.value(context)) !== values[firstKey]) {
      throw new Error(`${name} returns two values for ${firstKey} and the user ${user.key}`)
    }
  }
  // The limit is five standard deviations of a binomial distribution.
  if (Math.abs(served / decided - 0.5) > 2.5 / Math.sqrt(decided)) {
    throw new Error(`${name} serves ${served} of ${decided} users, but half of them are expected`)
  }
}

/**
 * Returns the same flags with rollouts that serve the first or second variation to all contexts.
 */
function withRollouts(definition: FlagSetDefinition, position: 0 | 1): FlagSetDefinition {
  const flags = definition.flags.map((flag) => {
    const variationId = flag.variations[position]?.id
    if (variationId === undefined) throw new Error(`${flag.key} has no such variation`)
    const ranges = [{ variationId, from: 0, to: BUCKETS }]
    const rollouts = flag.rollouts.map((each) => {
      return each.strategy === 'gradual' ? each : { ...each, ranges }
    })
    return { ...flag, rollouts }
  })
  return { ...definition, flags }
}
