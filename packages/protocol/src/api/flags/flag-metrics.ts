import * as z from 'zod'
import { reading } from '../endpoint.ts'
import { camelCaseRecord, record } from '../record.ts'
import { count, id } from '../scalars.ts'

/** How a flag was used in one environment over the last 24 hours. */
export type FlagMetrics = z.output<typeof flagMetricsCodec>

/** In percent of the 24 hours before: 0 when both are 0, 100 when only the earlier one is. */
const change = z.number()
const counted = record({ value: count, change })
/** Such as `99.98%` and `0.42ms`. */
const measured = record({ value: z.string(), change })

/** The interface spells its fields in camel case. */
export const flagMetricsCodec = camelCaseRecord(
  {
    totalEvaluations: counted,
    /** Estimated, from the distinct keys of the contexts. */
    uniqueUsers: counted,
    /** The share of evaluations that did not end in `ERROR`. */
    successRate: measured,
    errorRate: measured,
    /** What one evaluation took, on average. */
    avgResponseTime: measured,
    /** Every variation that the flag has now, in its order; `percentage` of all evaluations. */
    variationPerformance: z
      .array(
        record({ key: z.string(), name: z.string(), evaluations: count, percentage: z.number() }),
      )
      .readonly(),
    /**
     * How many of all evaluations were reported with a client key. Such a key is public, so these
     * numbers may be invented.
     */
    clientReported: counted,
  },
  { clientReported: 'client_reported' },
)

/** The endpoint of the metrics of flags. */
export const flagMetricsEndpoints = {
  getFlagMetrics: reading('/flags/{flagId}/metrics', {
    query: camelCaseRecord({ environmentId: id, period: z.enum(['24h']).optional() }),
    response: flagMetricsCodec,
  }),
}
