import { evaluateAll, valuesOf } from '../src/all-flags.ts'
import { compileFlagSet, type FlagSetDefinition } from '../src/index.ts'
import { checkPeer } from './check-peer.ts'
import { floorOf } from './floor.ts'
import { installedPeers } from './peer.ts'
import { manyFlags, NOW, oneFlag, USERS } from './workload.ts'

/** Throws if the floors and the engine have different results. */
export function checkFloors(): void {
  checkFloor(oneFlag())
  checkFloor(manyFlags(100))
}

/**
 * Throws if a peer has wrong results. For 1,000 flags, only 200 users are checked, to save time.
 */
export async function checkPeers(): Promise<void> {
  await checkEach(oneFlag(), 1000)
  await checkEach(manyFlags(100), 1000)
  await checkEach(manyFlags(1000), 200)
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

async function checkEach(definition: FlagSetDefinition, users: number): Promise<void> {
  for (const { name, prepare } of await installedPeers()) {
    const prepared = await prepare(definition)
    await checkPeer(name, prepared, definition, USERS.slice(0, users))
    await prepared.close?.()
  }
}
