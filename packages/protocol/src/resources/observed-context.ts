import * as z from 'zod'
import { record } from '../record.ts'
import { count, id, timestamp } from '../scalars.ts'

/** A context that an environment was evaluated for, as far as the environment keeps it. */
export type ObservedContext = z.output<typeof observedContextCodec>

export const observedContextCodec = record(
  {
    id,
    environmentId: id,
    orgId: id,
    /** The fingerprint of what is kept. */
    hash: z.string(),
    /** The context, without what the environment's `context_privacy` leaves out. */
    contextJson: z.json(),
    firstSeen: timestamp,
    lastSeen: timestamp,
    seenCount: count,
    /** Whether the last evaluation had no flag that ended in `ERROR`. */
    evaluationSuccess: z.boolean(),
    /** What was served last, as JSON text: flag key → variation key. */
    variationResults: z.string(),
    /** Over which transport it was seen last. */
    source: z.enum(['rest', 'poll', 'ws', 'sdk']),
    deletedAt: timestamp.nullable(),
  },
  {
    environmentId: 'env_id',
    orgId: 'org_id',
    contextJson: 'context_json',
    firstSeen: 'first_seen',
    lastSeen: 'last_seen',
    seenCount: 'seen_count',
    evaluationSuccess: 'evaluation_success',
    variationResults: 'variation_results',
    deletedAt: 'deleted_at',
  },
)
