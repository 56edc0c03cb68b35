import { evaluateAll, valuesOf } from '../src/all-flags.ts'
import { BUCKETS, compileFlagSet, type FlagSetDefinition } from '../src/index.ts'
import type { Prepared } from './peer.ts'
import { NOW, type UserContext } from './workload.ts'

/**
 * Throws unless a peer answers as the engine does wherever rules decide. Each engine has a hash of
 * its own, so where a rollout decides, a peer must serve about half of the users.
 */
export async function checkPeer(
  name: string,
  prepared: Prepared,
  definition: FlagSetDefinition,
  users: readonly UserContext[],
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
        throw new Error(`${name} says ${value} for ${key} and the user ${user.key}`)
      }
      if (ifOn[key] !== ifOff[key]) {
        decided += 1
        if (value === true) served += 1
      }
    }
    if ((await prepared.value(context)) !== values[firstKey]) {
      throw new Error(`${name} says two things of ${firstKey} and the user ${user.key}`)
    }
  }
  // Five standard deviations of fair coins.
  if (Math.abs(served / decided - 0.5) > 2.5 / Math.sqrt(decided)) {
    throw new Error(`${name} serves ${served} of ${decided} users, which is not half of them`)
  }
}

/** The same flags with rollouts that serve everybody one variation, the first or the second. */
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
