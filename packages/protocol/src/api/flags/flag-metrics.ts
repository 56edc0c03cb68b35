import * as z from 'zod'
import { reading } from '../endpoint.ts'
import { camelCaseRecord, record } from '../record.ts'
import { count, id } from '../scalars.ts'

/** The usage of a flag in one environment over the last 24 hours. */
export type FlagMetrics = z.output<typeof flagMetricsCodec>

/**
 * The change in percent from the previous 24 hours: 0 if both values are 0, 100 if only the earlier
 * value is 0.
 */
const change = z.number()
const counted = record({ value: count, change })
/** A value with its unit, such as `99.98%` or `0.42ms`. */
const measured = record({ value: z.string(), change })

/** The codec of `FlagMetrics`. Its wire names are in camelCase. */
export const flagMetricsCodec = camelCaseRecord(
  {
    totalEvaluations: counted,
    /** The estimated number of distinct context keys. */
    uniqueUsers: counted,
    /** The share of evaluations with a reason other than `ERROR`. */
    successRate: measured,
    errorRate: measured,
    /** The average duration of an evaluation. */
    avgResponseTime: measured,
    /** The current variations of the flag, in order, with their shares of all evaluations. */
    variationPerformance: z
      .array(
        record({ key: z.string(), name: z.string(), evaluations: count, percentage: z.number() }),
      )
      .readonly(),
    /**
     * The number of evaluations that were reported with a client key. Such a key is public, so
     * these reports can be forged.
     */
    clientReported: counted,
  },
  { clientReported: 'client_reported' },
)

/** The endpoint that returns the metrics of a flag. */
export const flagMetricsEndpoints = {
  getFlagMetrics: reading('/flags/{flagId}/metrics', {
    query: camelCaseRecord({ environmentId: id, period: z.enum(['24h']).optional() }),
    response: flagMetricsCodec,
  }),
}
