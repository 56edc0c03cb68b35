import { evaluateAll, valuesOf } from '../src/all-flags.ts'
import { compileFlagSet, type FlagSetDefinition } from '../src/index.ts'
import { checkPeer } from './check-peer.ts'
import { floorOf } from './floor.ts'
import { installedPeers } from './peer.ts'
import { manyFlags, NOW, oneFlag, USERS } from './workload.ts'

/** Throws unless the floors answer as the engine does. */
export function checkFloors(): void {
  checkFloor(oneFlag())
  checkFloor(manyFlags(100))
}

/** Throws unless all peers answer right. Of 1,000 flags 200 users ask, for that takes long. */
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
