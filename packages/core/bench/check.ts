import { evaluateAll, valuesOf } from '../src/all-flags.ts'
import { compileFlagSet, type FlagSetDefinition } from '../src/index.ts'
import { re2 } from '../src/regex.ts'
import { checkPeer } from './check-peer.ts'
import { COMMON_CONTEXTS, commonFlags } from './common-flags.ts'
import { floorOf } from './floor.ts'
import { MIXED_CONTEXTS, mixedFlags } from './mixed.ts'
import { mixedFloorOf } from './mixed-floor.ts'
import { installedPeers, type PeerContext } from './peer.ts'
import { manyFlags, NOW, oneFlag, USERS } from './workload.ts'

/** Throws if the floors and the engine have different results. */
export function checkFloors(): void {
  checkFloor(oneFlag())
  checkFloor(manyFlags(100))
  for (const count of [10, 100, 1000]) checkMixedFloor(mixedFlags(count))
}

/**
 * Throws if a peer has wrong results. For 1,000 flags, only 200 users are checked, to save time.
 */
export async function checkPeers(): Promise<void> {
  await checkEach(oneFlag(), USERS)
  await checkEach(manyFlags(100), USERS)
  await checkEach(manyFlags(1000), USERS.slice(0, 200))
  await checkEach(commonFlags(100), COMMON_CONTEXTS)
}

function checkFloor(definition: FlagSetDefinition): void {
  const floor = floorOf(definition)
  const flagSet = compileFlagSet(definition)
  for (const user of USERS) {
    const expected = floor(user)
    for (const [key, value] of Object.entries(valuesOf(evaluateAll(flagSet, user, NOW)))) {
      if (value !== expected[key]) throw new Error(`the engine and the floor differ on ${key}`)
    }
  }
}

function checkMixedFloor(definition: FlagSetDefinition): void {
  const floor = mixedFloorOf(definition)
  const flagSet = compileFlagSet(definition, { extensions: { regex: re2 } })
  for (const context of MIXED_CONTEXTS) {
    const expected = floor.values(context)
    const values = valuesOf(evaluateAll(flagSet, context, NOW))
    for (const [number, { key, variations, type }] of definition.flags.entries()) {
      const text = JSON.stringify(values[key])
      if (text !== JSON.stringify(expected[key])) {
        throw new Error(`the engine and the floor differ on ${key}`)
      }
      if (definition.flags.length > 100) continue
      const served = variations[floor.one(number, context)]?.value ?? ''
      if (text !== (type === 'string' ? JSON.stringify(served) : served)) {
        throw new Error(`the engine and the floor of one flag differ on ${key}`)
      }
    }
  }
}

async function checkEach(
  definition: FlagSetDefinition,
  users: readonly PeerContext[],
): Promise<void> {
  for (const { name, prepare } of await installedPeers()) {
    const prepared = await prepare(definition)
    await checkPeer(name, prepared, definition, users)
    await prepared.close?.()
  }
}
