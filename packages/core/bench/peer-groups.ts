import type { FlagSetDefinition } from '../src/index.ts'
import { checkPeer } from './check-peer.ts'
import { allValues, oneValue, ROUNDS, USERS } from './groups.ts'
import { type Case, compare, type Times } from './measure.ts'
import type { Peer, Prepared } from './peer.ts'
import { manyFlags, oneFlag } from './workload.ts'

/** W1 beside engines of others. */
export function onePeers(peers: readonly Peer[]): Promise<Times> {
  const own = oneValue('W1 ours', oneFlag(), 5000)
  return besidePeers(peers, own, oneFlag(), { rounds: ROUNDS, calls: 500, users: USERS.length })
}

/** W2 beside engines of others. */
export function hundredPeers(peers: readonly Peer[]): Promise<Times> {
  const own = allValues('W2 ours', manyFlags(100), 200)
  const how = { rounds: ROUNDS, calls: 5, users: USERS.length }
  return besidePeers(peers, own, manyFlags(100), how)
}

/** W3 beside engines of others, checked with fewer users, for these calls take long. */
export function thousandPeers(peers: readonly Peer[]): Promise<Times> {
  const own = allValues('W3 ours', manyFlags(1000), 20)
  return besidePeers(peers, own, manyFlags(1000), { rounds: ROUNDS / 4, calls: 1, users: 200 })
}

interface Ready {
  readonly name: string
  readonly prepared: Prepared
}

async function besidePeers(
  peers: readonly Peer[],
  own: Case,
  definition: FlagSetDefinition,
  how: { readonly rounds: number; readonly calls: number; readonly users: number },
): Promise<Times> {
  const group = own.name.slice(0, 2)
  const ready: Ready[] = []
  try {
    for (const { name, prepare } of peers) {
      const prepared = await prepare(definition)
      ready.push({ name: `${group} ${name}`, prepared })
      await checkPeer(name, prepared, definition, USERS.slice(0, how.users))
    }
    const isOne = definition.flags.length === 1
    return await compare(how.rounds, [own, ...ready.map((each) => caseOf(each, isOne, how.calls))])
  } finally {
    for (const { prepared } of ready) await prepared.close?.()
  }
}

function caseOf({ name, prepared }: Ready, isOne: boolean, calls: number): Case {
  const contexts = USERS.map((user) => prepared.contextOf(user))
  const ask = isOne ? prepared.value : prepared.values
  return { name, calls, call: (turn) => ask(contexts[turn % contexts.length]) }
}
