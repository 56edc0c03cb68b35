import type { FlagDefinition, SegmentDefinition } from '../src/index.ts'
import { flagOf } from './operator-vectors.ts'
import type { VectorFile } from './vector-files.ts'

/** Returns a flag that serves `true` to every context. */
function flagForAll(key: string, index: number): FlagDefinition {
  const condition = { attribute: 'kind', operator: 'exists', value: '' }
  return flagOf([key, condition], index)
}

/** Returns flags that each require that the previous flag serves `true`. */
function flagChain(hops: number): readonly FlagDefinition[] {
  const flags: FlagDefinition[] = []
  for (let index = 0; index <= hops; index += 1) {
    const flag = flagForAll(`flag ${index} of ${hops}`, 2000 + 100 * hops + index)
    const before = flags.at(-1)
    const variationIds = before?.rules.flatMap(({ variationId }) => variationId ?? []) ?? []
    const prerequisites = before === undefined ? [] : [{ flagId: before.id, variationIds }]
    flags.push({ ...flag, prerequisites })
  }
  return flags
}

function segmentId(hops: number, index: number): string {
  return `00000005-0000-4000-8000-${String(9000 + 100 * hops + index).padStart(12, '0')}`
}

/** Returns segments that each match the contexts of the previous one. The first matches all. */
function segmentChain(hops: number): readonly SegmentDefinition[] {
  return Array.from({ length: hops + 1 }, (_, index) => {
    const before = { attribute: '', operator: 'in_segment', value: segmentId(hops, index - 1) }
    return {
      id: segmentId(hops, index),
      key: `segment ${index} of ${hops}`,
      rules: index === 0 ? [] : [before],
      logicalOp: 'AND',
      force: index === 0,
      keyAttribute: 'user.key',
      included: [],
      excluded: [],
    }
  })
}

/** Returns flags with a rule or a condition that refers to the last segment of a chain. */
function flagsOnSegments(hops: number): readonly FlagDefinition[] {
  const last = segmentId(hops, hops)
  const flag = flagForAll(`rule on ${hops} hops of segments`, 2070 + 100 * hops)
  const condition = { attribute: '', operator: 'in_segment', value: last }
  return [
    { ...flag, rules: flag.rules.map((rule) => ({ ...rule, conditions: [], segmentId: last })) },
    flagOf([`condition on ${hops} hops of segments`, condition], 2071 + 100 * hops),
  ]
}

function chains(hops: number, description: string, ends: object): VectorFile {
  const flags = [...flagChain(hops), ...flagsOnSegments(hops)]
  const isLast = (key: string) => key === `flag ${hops} of ${hops}` || key.includes(' on ')
  const isBroken = 'errorCode' in ends
  return {
    description,
    flagSet: { version: 1, flags, segments: segmentChain(hops) },
    cases: [
      {
        name: `a chain of ${hops} hops ${isBroken ? 'is an error' : 'works'}`,
        context: { kind: 'user', key: 'user-1' },
        expect: Object.fromEntries(flags.map(({ key }) => [key, !(isBroken && isLast(key))])),
        details: Object.fromEntries(
          flags.filter(({ key }) => isLast(key)).map(({ key }) => [key, ends]),
        ),
      },
    ],
  }
}

/** Vectors of the longest valid chains. */
export const CHAIN_VECTORS = chains(
  64,
  'Chains of prerequisites and of segments with 64 hops, the most that a chain may have.',
  { reason: 'TARGETING_MATCH' },
)

/** Vectors of the shortest chains that are too long. */
export const LONG_CHAIN_VECTORS = chains(
  65,
  'Chains of prerequisites and of segments with 65 hops, one more than a chain may have.',
  { reason: 'ERROR', errorCode: 'MALFORMED_FLAG' },
)
