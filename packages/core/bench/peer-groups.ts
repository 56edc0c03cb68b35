import type { FlagSetDefinition } from '../src/index.ts'
import { checkPeer } from './check-peer.ts'
import { allValues, oneValue, ROUNDS, USERS } from './groups.ts'
import { type Case, compare, type Times } from './measure.ts'
import { installedPeers, type Prepared } from './peer.ts'
import { manyFlags, oneFlag } from './workload.ts'

/** Throws unless all peers answer right. Of 1,000 flags 200 users ask, for that takes long. */
export async function checkPeers(): Promise<void> {
  await withPeers(oneFlag(), (peers) => checkEach(peers, oneFlag(), 1000))
  await withPeers(manyFlags(100), (peers) => checkEach(peers, manyFlags(100), 1000))
  await withPeers(manyFlags(1000), (peers) => checkEach(peers, manyFlags(1000), 200))
}

/** W1 beside engines of others. */
export function onePeers(): Promise<Times> {
  return withPeers(oneFlag(), (peers) => {
    const others = peers.map((each) => caseOf('W1', each, 500))
    return compare(ROUNDS, [oneValue('W1 ours', oneFlag(), 5000), ...others])
  })
}

/** W2 beside engines of others. */
export function hundredPeers(): Promise<Times> {
  return withPeers(manyFlags(100), (peers) => {
    const others = peers.map((each) => caseOf('W2', each, 5))
    return compare(ROUNDS, [allValues('W2 ours', manyFlags(100), 200), ...others])
  })
}

/** W3 beside engines of others. */
export function thousandPeers(): Promise<Times> {
  return withPeers(manyFlags(1000), (peers) => {
    const others = peers.map((each) => caseOf('W3', each, 1))
    return compare(ROUNDS / 4, [allValues('W3 ours', manyFlags(1000), 20), ...others])
  })
}

interface Ready {
  readonly name: string
  readonly prepared: Prepared
}

async function withPeers<Result>(
  definition: FlagSetDefinition,
  work: (peers: readonly Ready[]) => Promise<Result>,
): Promise<Result> {
  const ready: Ready[] = []
  try {
    for (const { name, prepare } of await installedPeers()) {
      ready.push({ name, prepared: await prepare(definition) })
    }
    return await work(ready)
  } finally {
    for (const { prepared } of ready) await prepared.close?.()
  }
}

async function checkEach(
  peers: readonly Ready[],
  definition: FlagSetDefinition,
  users: number,
): Promise<void> {
  for (const { name, prepared } of peers) {
    await checkPeer(name, prepared, definition, USERS.slice(0, users))
  }
}

function caseOf(group: 'W1' | 'W2' | 'W3', { name, prepared }: Ready, calls: number): Case {
  const contexts = USERS.map((user) => prepared.contextOf(user))
  const ask = group === 'W1' ? prepared.value : prepared.values
  const call = (turn: number) => ask(contexts[turn % contexts.length])
  return { name: `${group} ${name}`, calls, call }
}
