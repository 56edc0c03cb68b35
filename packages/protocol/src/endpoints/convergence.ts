import { convergenceCodec } from '../resources/convergence.ts'
import { type Endpoint, environmentParams, noQuery, reading } from './endpoint.ts'

export const convergenceEndpoints = {
  getConvergence: {
    ...reading,
    path: '/projects/{projectId}/envs/{envId}/convergence',
    params: environmentParams,
    query: noQuery,
    response: convergenceCodec,
  },
} as const satisfies Record<string, Endpoint>
