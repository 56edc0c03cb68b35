import { newPromotionCodec, promotionCodec } from '../resources/promotion.ts'
import { creating, type Endpoint, flagParams } from './endpoint.ts'
import { FLAGS } from './flags.ts'

export const promotionEndpoints = {
  promoteFlag: {
    ...creating,
    path: `${FLAGS}/{flagId}/promote`,
    params: flagParams,
    body: newPromotionCodec,
    status: 200,
    response: promotionCodec,
  },
} as const satisfies Record<string, Endpoint>
