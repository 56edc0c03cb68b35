import * as z from 'zod'
import { pageOf } from '../envelope.ts'
import { record } from '../record.ts'
import { observedContextCodec } from '../resources/observed-context.ts'
import { id, instant, text } from '../scalars.ts'
import { deleting, type Endpoint, noParams, paging, reading, truth } from './endpoint.ts'

const PATH = '/contexts/observed-contexts'

export const observedContextEndpoints = {
  listObservedContexts: {
    ...reading,
    path: PATH,
    params: noParams,
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
      { limit: 'perPage', environmentId: 'env_id' },
    ),
    response: pageOf(observedContextCodec),
  },
  forgetObservedContexts: {
    ...deleting,
    path: PATH,
    permission: 'contexts.forget',
    params: noParams,
    /** Whose contexts: the key is compared exactly. Keys of contexts, unlike names, are any text. */
    query: record(
      { environmentId: id, key: z.string().min(1).max(1024) },
      { environmentId: 'env_id' },
    ),
  },
} as const satisfies Record<string, Endpoint>
