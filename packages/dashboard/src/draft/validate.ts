import {
  type FlagConfigurationInput,
  flagChangesCodec,
  flagConfigurationInputCodec,
  segmentChangesCodec,
  toSnakeCase,
} from '@ff/protocol/management'
import type * as z from 'zod'
import { draft } from '../messages/en/draft.ts'
import type { Configuration, Rollout } from './configuration.ts'
import { findById, toConfigurationInput } from './configuration.ts'

/** A fault of a field. `path` has the names of the properties, joined by dots. */
export interface FieldIssue {
  readonly path: string
  readonly message: string
}

const { issues } = draft

/** Returns the faults of a configuration that can be found without the server. */
export function validateConfiguration(
  configuration: Configuration,
  base: Configuration,
): readonly FieldIssue[] {
  const input: FlagConfigurationInput = toConfigurationInput(configuration, base)
  const { targetingRules } = configuration
  const found = [
    ...issuesOf(flagConfigurationInputCodec, input),
    ...targetingRules
      .filter(({ kind, segmentId }) => kind === 'segment' && segmentId === null)
      .map((rule) => {
        const path = `targetingRules.${targetingRules.indexOf(rule)}.segmentId`
        return { path, message: issues.segmentRequired }
      }),
    ...unknownRollouts(configuration),
    ...repeatedKeys(configuration),
    ...configuration.rollouts.flatMap(rolloutIssues),
  ]
  const seen = new Set<string>()
  return found.filter(({ path }) => !seen.has(path) && seen.add(path))
}

function unknownRollouts({ targetingRules, rollouts }: Configuration): readonly FieldIssue[] {
  return targetingRules.flatMap(({ rolloutId }, index) => {
    const isKnown = rolloutId === null || findById(rollouts, rolloutId) !== undefined
    const path = `targetingRules.${index}.rolloutId`
    return isKnown ? [] : [{ path, message: issues.unknownRollout }]
  })
}

function repeatedKeys({ state }: Configuration): readonly FieldIssue[] {
  const known = new Set<string>()
  return state.targets.flatMap(({ kind, keys }, index) => {
    const names = keys.map((key) => JSON.stringify([kind, key]))
    const isRepeated = names.some((name) => known.has(name)) || new Set(names).size < names.length
    for (const name of names) known.add(name)
    return isRepeated ? [{ path: `state.targets.${index}.keys`, message: issues.keyTwice }] : []
  })
}

/** Returns the faults of the changes of a segment. */
export function validateSegment(changes: z.output<typeof segmentChangesCodec>) {
  return issuesOf(segmentChangesCodec, changes)
}

/** Returns the faults of the changes of a flag. */
export function validateFlag(changes: z.output<typeof flagChangesCodec>) {
  return issuesOf(flagChangesCodec, changes)
}

/**
 * Returns the faults that the codec of a body finds in its fields. The codec checks names on the
 * wire; the paths have the names of the properties.
 */
export function issuesOf(codec: z.ZodType, fields: unknown): readonly FieldIssue[] {
  const { error } = codec.safeParse(toWire(fields))
  return (error?.issues ?? []).map(({ path, message }) => {
    return { path: path.map((name) => toCamelCase(String(name))).join('.'), message }
  })
}

function toWire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toWire)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, each]) => each !== undefined)
  return Object.fromEntries(entries.map(([name, each]) => [toSnakeCase(name), toWire(each)]))
}

function toCamelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** The fields that a strategy requires. */
const REQUIRED = {
  percentage: ['variationId', 'percentage'],
  variant: ['variants'],
  gradual: ['variationId', 'targetPercentage', 'increment', 'intervalHours'],
} as const satisfies Record<Rollout['strategy'], readonly (keyof Rollout)[]>

function rolloutIssues(rollout: Rollout, index: number): readonly FieldIssue[] {
  const { strategy, variants, salt, scheme } = rollout
  const at = (field: string, message: string) => ({ path: `rollouts.${index}.${field}`, message })
  const missing = REQUIRED[strategy].filter((field) => rollout[field as keyof Rollout] === null)
  const buckets = (variants ?? []).reduce((sum, { weight }) => sum + Math.round(weight * 1000), 0)
  const ids = (variants ?? []).map(({ variationId }) => variationId)
  const twice = ids.findIndex((id, place) => ids.indexOf(id) !== place)
  return [
    ...missing.map((field) => at(field, issues.required)),
    ...(buckets > 100_000 ? [at('variants', issues.weightsAbove)] : []),
    ...(twice === -1 ? [] : [at(`variants.${twice}.variationId`, issues.twice)]),
    ...(scheme === 'ff' && salt.includes('.') ? [at('salt', issues.dotInSalt)] : []),
  ]
}
