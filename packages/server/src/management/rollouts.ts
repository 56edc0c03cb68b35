import { isFlagError, rangesOf, type Share } from '@ff/core'
import type { NewRollout, Rollout } from '@ff/protocol/management'
import { applyChange, changeEvent } from './apply-change.ts'
import type { Management } from './management.ts'
import { loadFlagStatePath } from './paths.ts'
import { newSalt } from './salt.ts'
import { invalid } from './validation.ts'
import { loadVariations } from './variations.ts'

interface CreateRolloutInput {
  readonly params: {
    readonly projectId: string
    readonly environmentId: string
    readonly flagId: string
  }
  readonly body: NewRollout
}

type StrategyField =
  | 'variationId'
  | 'percentage'
  | 'variants'
  | 'targetPercentage'
  | 'increment'
  | 'intervalHours'
  | 'startAt'

/** The fields that only some strategies have, and how callers spell them. */
const WIRE_NAMES: Readonly<Record<StrategyField, string>> = {
  variationId: 'variation_id',
  percentage: 'percentage',
  variants: 'variants',
  targetPercentage: 'target_percentage',
  increment: 'increment',
  intervalHours: 'interval_hours',
  startAt: 'start_at',
}

const STRATEGY_FIELDS: Readonly<Record<Rollout['strategy'], ReadonlySet<string>>> = {
  percentage: new Set(['variationId', 'percentage']),
  variant: new Set(['variants']),
  gradual: new Set(['variationId', 'targetPercentage', 'increment', 'intervalHours', 'startAt']),
}

/** A new rollout of a flag in an environment, for its rules to refer to. */
export async function createRollout(
  management: Management,
  { params, body }: CreateRolloutInput,
): Promise<Rollout> {
  const target = { permission: 'flags.write', load: loadFlagStatePath, params } as const
  return applyChange(management, target, async (writer, { project, environment, flag }) => {
    const schedule = body.strategy === 'gradual' ? { startAt: writer.now, ...body } : body
    assertFields(schedule)
    const variations = await loadVariations(writer.reader, flag.id)
    assertVariations(body, new Set(variations.map(({ id }) => id)))
    const rollout = await writer.insert('rollout', {
      flagId: flag.id,
      environmentId: environment.id,
      projectId: project.id,
      name: body.name,
      strategy: body.strategy,
      bucketBy: body.bucketBy ?? 'user.key',
      salt: body.salt ?? newSalt(),
      scheme: body.scheme ?? 'ff',
      variationId: body.variationId ?? null,
      percentage: body.percentage ?? null,
      variants: body.variants ?? null,
      targetPercentage: body.targetPercentage ?? null,
      increment: body.increment ?? null,
      intervalHours: body.intervalHours ?? null,
      startAt: schedule.startAt ?? null,
      ranges: rangesFor(body),
    })
    const event = changeEvent('rollout.created', rollout.id, { before: null, after: rollout })
    return { event, result: rollout }
  })
}

function assertFields(body: NewRollout): void {
  const allowed = STRATEGY_FIELDS[body.strategy]
  for (const [field, wireName] of Object.entries(WIRE_NAMES) as [StrategyField, string][]) {
    const isGiven = body[field] !== undefined
    if (allowed.has(field) && !isGiven) {
      throw invalid(wireName, `is required when strategy is ${body.strategy}`)
    }
    if (!allowed.has(field) && isGiven) {
      throw invalid(wireName, `does not belong to strategy ${body.strategy}`)
    }
  }
}

function assertVariations(body: NewRollout, known: ReadonlySet<string>): void {
  const { variationId, variants = [] } = body
  if (variationId !== undefined && !known.has(variationId)) {
    throw invalid('variation_id', 'names no variation of this flag')
  }
  const listed = new Set<string>()
  for (const [index, variant] of variants.entries()) {
    const field = `variants.${index}.variation_id`
    if (!known.has(variant.variationId)) throw invalid(field, 'names no variation of this flag')
    if (listed.has(variant.variationId)) throw invalid(field, 'is listed twice')
    listed.add(variant.variationId)
  }
}

function rangesFor({ strategy, variationId, percentage, variants }: NewRollout) {
  if (strategy === 'variant') return rangesOrInvalid(variants ?? [], 'variants')
  if (variationId === undefined || percentage === undefined) return []
  return rangesOrInvalid([{ variationId, weight: percentage }], 'percentage')
}

function rangesOrInvalid(shares: readonly Share[], field: string) {
  try {
    return rangesOf(shares)
  } catch (error) {
    throw isFlagError(error) ? invalid(field, error.message) : error
  }
}
