import fc from 'fast-check'
import {
  BUCKETS,
  compileFlagSet,
  evaluateValue,
  type FlagDefinition,
  type FlagValue,
} from '../../src/index.ts'
import { schemes } from '../../src/schemes.ts'
import { flagDefinition, flagSetDefinition, ruleDefinition } from '../definitions.ts'

/** A split of contexts into parts, which a flag of ff and a flag of another system describe. */
export interface Split {
  readonly key: string
  readonly salt: string
  readonly strategy: 'percentage' | 'variant'
  /** The weights of the parts. The contexts after them are in no part. */
  readonly weights: readonly number[]
  /** The sum of all weights. */
  readonly total: number
}

/** The result for a context that is in no part. */
export const NO_PART = 'none'

/** Returns the name of a part of a split. */
export function partName(index: number): string {
  return `part ${index}`
}

const UNITS = [
  fc.integer({ min: 0x80, max: 0xff }),
  fc.integer({ min: 0x100, max: 0x7ff }),
  fc.integer({ min: 0x4e00, max: 0x9fff }),
  fc.integer({ min: 0x1f300, max: 0x1faff }),
  fc.integer({ min: 0xd800, max: 0xdfff }),
].map((points) => points.map((point) => String.fromCodePoint(point)))
const ASCII = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code))

/**
 * Returns 20,000 random keys, the same in every run. A third is not ASCII: Latin-1, other letters,
 * Chinese characters, emoji and lone surrogates.
 */
export function manyKeys(): readonly string[] {
  const ascii = fc.string({ unit: ASCII, minLength: 1, maxLength: 24 })
  const other = fc
    .tuple(fc.string({ unit: fc.oneof(ASCII, ...UNITS), maxLength: 12 }), fc.oneof(...UNITS))
    .map(([text, unit]) => text + unit)
  return [
    ...fc.sample(ascii, { numRuns: 13_000, seed: 1 }),
    ...fc.sample(other, { numRuns: 7000, seed: 2 }),
  ]
}

/** Returns a function that returns the part of a key in a split, computed by the engine. */
export function partsOf(
  scheme: string,
  splits: readonly Split[],
): (split: Split, key: string) => FlagValue {
  const definition = flagSetDefinition(splits.map((split) => flagOf(scheme, split)))
  const flagSet = compileFlagSet(definition, { extensions: { schemes } })
  return ({ key: flagKey }, key) => evaluateValue(flagSet, flagKey, { kind: 'user', key }, 0)
}

function flagOf(scheme: string, { key, salt, strategy, weights, total }: Split): FlagDefinition {
  const names = [...weights.map((_, index) => partName(index)), NO_PART]
  let sum = 0
  const ranges = weights.map((weight, index) => {
    const from = Math.round((sum * BUCKETS) / total)
    sum += weight
    return { variationId: partName(index), from, to: Math.round((sum * BUCKETS) / total) }
  })
  const rollout = { id: 'rollout', bucketBy: 'user.key', scheme, salt, ranges }
  return flagDefinition(key, {
    type: 'string',
    variations: names.map((name) => ({ id: name, key: name, value: name })),
    defaultVariationId: NO_PART,
    rules: [ruleDefinition({ variationId: null, rolloutId: 'rollout' })],
    rollouts: [
      strategy === 'percentage'
        ? { ...rollout, strategy }
        : { ...rollout, strategy, totalWeight: total },
    ],
  })
}
