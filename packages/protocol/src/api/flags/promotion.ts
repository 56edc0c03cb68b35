import * as z from 'zod'
import { creating } from '../endpoint.ts'
import { FLAG } from '../paths.ts'
import { record } from '../record.ts'
import { id, idOrKey } from '../scalars.ts'
import { flagStateCodec } from './flag-state.ts'
import { rolloutCodec } from './rollout.ts'
import { targetingRuleCodec } from './targeting-rule.ts'

const names = { fromEnvironmentId: 'from_env_id', toEnvironmentId: 'to_env_id' } as const

/**
 * The body of `promoteFlag`. Environments are named by their ids or keys. A dry run returns the
 * differences without applying them.
 */
export type NewPromotion = z.output<typeof newPromotionCodec>

/** The codec of `NewPromotion`. */
export const newPromotionCodec = record(
  { fromEnvironmentId: idOrKey, toEnvironmentId: idOrKey, dryRun: z.boolean().optional() },
  names,
)

/** The changes that a promotion has applied, or would apply without `dryRun`. */
export type Promotion = z.output<typeof promotionCodec>

/**
 * The values by wire name: of the changed fields, or of all fields if the resource is new or
 * deleted.
 */
const fields = z.record(z.string(), z.json()).nullable()

const difference = z.strictObject({
  resource: z.enum(['flag_state', 'targeting_rule', 'rollout']),
  /** The id of the resource in the target environment. */
  id,
  /** `null` if the resource is new. */
  before: fields,
  /** `null` if the resource is deleted. */
  after: fields,
})

/** The codec of `Promotion`. */
export const promotionCodec = record({
  /** `true` if the changes were written. */
  applied: z.boolean(),
  differences: z.array(difference),
})

/**
 * The configuration of a promoted flag in the target environment, and the ids of both environments.
 */
export const promotedFlagCodec = record(
  {
    fromEnvironmentId: id,
    toEnvironmentId: id,
    state: flagStateCodec,
    targetingRules: z.array(targetingRuleCodec),
    rollouts: z.array(rolloutCodec),
  },
  names,
)

/** The endpoint that promotes a flag. */
export const promotionEndpoints = {
  promoteFlag: creating(`${FLAG}/promote`, {
    body: newPromotionCodec,
    status: 200,
    response: promotionCodec,
  }),
}
