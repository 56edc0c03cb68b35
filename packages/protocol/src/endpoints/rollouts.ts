import { pageOf } from '../envelope.ts'
import { record } from '../record.ts'
import {
  changedRolloutCodec,
  newRolloutCodec,
  rolloutChangesCodec,
  rolloutCodec,
} from '../resources/rollout.ts'
import { id } from '../scalars.ts'
import {
  changing,
  creating,
  deleting,
  type Endpoint,
  flagStateParams,
  noQuery,
  ofFlagState,
  pageQuery,
  pathNames,
  reading,
} from './endpoint.ts'
import { FLAG_STATE } from './flag-states.ts'

const ROLLOUTS = `${FLAG_STATE}/rollouts` as const
const rolloutParams = record({ ...ofFlagState, rolloutId: id }, pathNames)

export const rolloutEndpoints = {
  listRollouts: {
    ...reading,
    path: ROLLOUTS,
    params: flagStateParams,
    query: pageQuery,
    response: pageOf(rolloutCodec),
  },
  createRollout: {
    ...creating,
    path: ROLLOUTS,
    params: flagStateParams,
    body: newRolloutCodec,
    response: rolloutCodec,
  },
  getRollout: {
    ...reading,
    path: `${ROLLOUTS}/{rolloutId}`,
    params: rolloutParams,
    query: noQuery,
    response: rolloutCodec,
  },
  updateRollout: {
    ...changing,
    path: `${ROLLOUTS}/{rolloutId}`,
    params: rolloutParams,
    body: rolloutChangesCodec,
    response: changedRolloutCodec,
  },
  deleteRollout: { ...deleting, path: `${ROLLOUTS}/{rolloutId}`, params: rolloutParams },
} as const satisfies Record<string, Endpoint>
