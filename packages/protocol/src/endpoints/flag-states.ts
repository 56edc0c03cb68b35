import { flagStateChangesCodec, flagStateCodec } from '../resources/flag-state.ts'
import { changing, type Endpoint, flagStateParams, noQuery, reading } from './endpoint.ts'

export const FLAG_STATE = '/projects/{projectId}/envs/{envId}/flags/{flagId}'

export const flagStateEndpoints = {
  getFlagState: {
    ...reading,
    path: FLAG_STATE,
    params: flagStateParams,
    query: noQuery,
    response: flagStateCodec,
  },
  updateFlagState: {
    ...changing,
    path: FLAG_STATE,
    params: flagStateParams,
    body: flagStateChangesCodec,
    response: flagStateCodec,
  },
} as const satisfies Record<string, Endpoint>
