import * as z from 'zod'
import { record } from '../record.ts'
import { flagMetricsCodec } from '../resources/flag-metrics.ts'
import { id } from '../scalars.ts'
import { type Endpoint, reading } from './endpoint.ts'

export const flagMetricsEndpoints = {
  getFlagMetrics: {
    ...reading,
    path: '/flags/{flagId}/metrics',
    params: record({ flagId: id }, {}),
    query: record({ environmentId: id, period: z.enum(['24h']).optional() }, {}),
    response: flagMetricsCodec,
  },
} as const satisfies Record<string, Endpoint>
