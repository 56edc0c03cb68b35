import type { FlagSetDefinition } from '../src/index.ts'
import {
  anySalt,
  CONTEXTS,
  conditionOf,
  FAMILIES,
  flagOf,
  keysOf,
  type Parts,
  SEGMENTS,
  segmentOf,
  userOf,
} from './mixed.ts'
import type { PeerContext } from './peer.ts'
import { chance } from './workload.ts'

/*
 * The common workload: the mixed workload, reduced to what all peers can express. The shares of targets, rules,
 * segments, rollouts and inactive flags are the same, and all flags are boolean. Prerequisites, gradual rollouts,
 * dates, networks, patterns, arrays, JSON values, nested segments and contexts of several kinds are left out,
 * because each of them is missing in at least one peer. Every context has all attributes, because peers treat
 * missing ones differently.
 */

const COMMON_FAMILIES = [
  FAMILIES.equal,
  FAMILIES.unequal,
  FAMILIES.listed,
  FAMILIES.unlisted,
  FAMILIES.number,
  FAMILIES.version,
  FAMILIES.suffix,
  FAMILIES.prefix,
  FAMILIES.substring,
]

const PARTS: Parts = {
  types: ['boolean'],
  conditionOf: (pick) => conditionOf(COMMON_FAMILIES, pick),
  targetOf: (variationId, pick) => {
    return { variationId, kind: 'user', keys: keysOf('user', CONTEXTS, pick) }
  },
  prerequisitesOf: () => [],
  rolloutOf: (flag, pick) => ({
    id: `rollout-${flag}`,
    strategy: 'variant',
    bucketBy: pick(4) === 0 ? 'accountId' : 'user.key',
    salt: anySalt(flag, pick),
    scheme: 'ff',
    ranges: [
      { variationId: `v${flag}-0`, from: 0, to: 50_000 },
      { variationId: `v${flag}-1`, from: 50_000, to: 100_000 },
    ],
  }),
}

/** The contexts of the workload. Each is parsed from JSON, as in a request. */
export const COMMON_CONTEXTS: readonly PeerContext[] = contextsOf()

/** Returns a flag set of the common workload. */
export function commonFlags(count: number): FlagSetDefinition {
  // With this seed, 100 flags have almost exactly the expected shares.
  const pick = chance(75)
  const flags = Array.from({ length: count }, (_, number) => flagOf(number, PARTS, pick))
  const segments = Array.from({ length: SEGMENTS }, (_, number) => {
    return segmentOf(number, PARTS.conditionOf, pick)
  })
  // A copy without shared objects, as if it was read from a store.
  return JSON.parse(JSON.stringify({ version: 1, flags, segments })) as FlagSetDefinition
}

function contextsOf(): PeerContext[] {
  const pick = chance(17)
  return Array.from({ length: CONTEXTS }, (_, number) => {
    // Attributes that no condition reads would only make copies of the context slower.
    const { spend, signedUpAt, ip, tags, ...user } = userOf(number, pick)
    return JSON.parse(JSON.stringify({ kind: 'user', ...user })) as PeerContext
  })
}
