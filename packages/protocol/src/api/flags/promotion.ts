import * as z from 'zod'
import { creating } from '../endpoint.ts'
import { FLAG } from '../paths.ts'
import { record } from '../record.ts'
import { id, idOrKey } from '../scalars.ts'
import { configurationDifference, configurationRecords } from './flag-configuration.ts'

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

/** The codec of `Promotion`. */
export const promotionCodec = record({
  /** `true` if the changes were written. */
  applied: z.boolean(),
  differences: z.array(configurationDifference),
})

/**
 * The configuration of a promoted flag in the target environment, and the ids of both environments.
 */
export const promotedFlagCodec = record(
  {
    fromEnvironmentId: id,
    toEnvironmentId: id,
    ...configurationRecords,
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
