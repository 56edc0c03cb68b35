import * as z from 'zod'
import { creating } from '../endpoint.ts'
import { FLAG } from '../paths.ts'
import { record } from '../record.ts'
import { id } from '../scalars.ts'
import { flagStateCodec } from './flag-state.ts'
import { rolloutCodec } from './rollout.ts'
import { targetingRuleCodec } from './targeting-rule.ts'

const names = { fromEnvironmentId: 'from_env_id', toEnvironmentId: 'to_env_id' } as const

/** From which environment to which; a dry run only answers the differences. */
export type NewPromotion = z.output<typeof newPromotionCodec>

/** The codec of `NewPromotion`. */
export const newPromotionCodec = record(
  { fromEnvironmentId: id, toEnvironmentId: id, dryRun: z.boolean().optional() },
  names,
)

/** What a promotion changed, or would change. */
export type Promotion = z.output<typeof promotionCodec>

/** In the spelling of the resource: all its fields, or of one that changes those that do. */
const fields = z.record(z.string(), z.json()).nullable()

const difference = z.strictObject({
  resource: z.enum(['flag_state', 'targeting_rule', 'rollout']),
  /** In the environment that is changed. */
  id,
  /** null for what is new. */
  before: fields,
  /** null for what is deleted. */
  after: fields,
})

/** The codec of `Promotion`. */
export const promotionCodec = record({
  /** Whether anything was written. */
  applied: z.boolean(),
  differences: z.array(difference),
})

/** A flag in the environment it was promoted to, and the one it was promoted from. */
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

/** The endpoint of promotions. */
export const promotionEndpoints = {
  promoteFlag: creating(`${FLAG}/promote`, {
    body: newPromotionCodec,
    status: 200,
    response: promotionCodec,
  }),
}
