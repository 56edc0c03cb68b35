import * as z from 'zod'
import { deleting, paging, reading, truth } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { record } from '../record.ts'
import { count, id, instant, text, timestamp } from '../scalars.ts'

/** A context that an environment was evaluated for, as far as the environment keeps it. */
export type ObservedContext = z.output<typeof observedContextCodec>

const names = { environmentId: 'env_id' } as const

/** The codec of `ObservedContext`. */
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
  names,
)

const PATH = '/contexts/observed-contexts'

/** The endpoints of observed contexts. */
export const observedContextEndpoints = {
  listObservedContexts: reading(PATH, {
    query: record(
      {
        page: paging.page,
        limit: paging.limit.meta({ default: 20 }),
        kind: text(64).min(1).optional(),
        /** Whether the last evaluation had no flag that ended in `ERROR`. */
        success: truth.optional(),
        /** Last seen at this instant or later. */
        from: instant.optional(),
        /** Last seen at this instant or earlier. */
        to: instant.optional(),
        environmentId: id.optional(),
      },
      { ...names, limit: 'perPage' },
    ),
    response: pageOf(observedContextCodec),
  }),
  forgetObservedContexts: deleting(PATH, {
    permission: 'contexts.forget',
    /** Whose contexts: the key is compared exactly. Keys of contexts, unlike names, are any text. */
    query: record({ environmentId: id, key: z.string().min(1).max(1024) }, names),
  }),
}
