import * as z from 'zod'
import { deleting, paging, reading, truth } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { record } from '../record.ts'
import { count, id, instant, text, timestamp } from '../scalars.ts'

/** A context that was evaluated, with the attributes that its environment stores. */
export type ObservedContext = z.output<typeof observedContextCodec>

const names = { environmentId: 'env_id' } as const

/** The codec of `ObservedContext`. */
export const observedContextCodec = record(
  {
    id,
    environmentId: id,
    orgId: id,
    /** The fingerprint of the stored context. */
    hash: z.string(),
    /** The context without the attributes that `context_privacy` of the environment excludes. */
    contextJson: z.json(),
    /**
     * The attributes whose values are or contain integers of 2^53 or more in magnitude, such as `id`,
     * or `user.id` in a multi-context. Such an integer can be the rounded form of another one, so no
     * condition on equality matches it. Absent if there are none.
     */
    inexactAttributes: z.array(z.string()).readonly().exactOptional(),
    firstSeen: timestamp,
    lastSeen: timestamp,
    seenCount: count,
    /** `true` if no flag of the last evaluation had the reason `ERROR`. */
    evaluationSuccess: z.boolean(),
    /**
     * What the newest version of the environment serves to the stored context when it is read, as JSON
     * text: flag key → variation key, or `null`. Not stored.
     */
    variationResults: z.string(),
    /** The transport of the last evaluation. */
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
        /** Matches contexts with this `evaluation_success`. */
        success: truth.optional(),
        /** Matches contexts last seen at this time or later. */
        from: instant.optional(),
        /** Matches contexts last seen at this time or earlier. */
        to: instant.optional(),
        environmentId: id.optional(),
      },
      { ...names, limit: 'perPage' },
    ),
    response: pageOf(observedContextCodec),
  }),
  forgetObservedContexts: deleting(PATH, {
    permission: 'contexts.forget',
    /**
     * The key of the contexts to delete. The key is compared exactly and can be any text. An empty key
     * is that of contexts without a key, and of multi-contexts without a `user`.
     */
    query: record({ environmentId: id, key: z.string().max(8_192) }, names),
    response: record({
      /** The number of contexts that were deleted. */
      deleted: count,
    }),
  }),
}
