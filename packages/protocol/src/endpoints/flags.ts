import { pageOf } from '../envelope.ts'
import { record } from '../record.ts'
import { flagChangesCodec, flagCodec, flagViewCodec, newFlagCodec, tag } from '../resources/flag.ts'
import { text } from '../scalars.ts'
import {
  changing,
  creating,
  deleting,
  type Endpoint,
  flagParams,
  noQuery,
  paging,
  projectParams,
  reading,
  truth,
} from './endpoint.ts'

export const FLAGS = '/projects/{projectId}/flags'

const CREATE_NOTES =
  "Without `client_visible`, the project's `new_flags_client_visible` decides. Integers beyond 2^53 " +
  'in variations of the type `number` are refused, and so are equal tags.'

const UPDATE_NOTES =
  '`client_visible: false` hides the flag from SDK keys of the kind `client`. Equal tags are refused.'

export const flagEndpoints = {
  listFlags: {
    ...reading,
    path: FLAGS,
    params: projectParams,
    query: record(
      {
        /** Occurs in the key, the name or the description, ignoring ASCII case. */
        search: text(256).min(1).optional(),
        tag: tag.optional(),
        archived: truth.optional(),
        ...paging,
      },
      {},
    ),
    response: pageOf(flagCodec),
  },
  createFlag: {
    ...creating,
    path: FLAGS,
    params: projectParams,
    body: newFlagCodec,
    notes: CREATE_NOTES,
    response: flagViewCodec,
  },
  getFlag: {
    ...reading,
    path: `${FLAGS}/{flagId}`,
    params: flagParams,
    query: noQuery,
    response: flagViewCodec,
  },
  updateFlag: {
    ...changing,
    path: `${FLAGS}/{flagId}`,
    params: flagParams,
    body: flagChangesCodec,
    notes: UPDATE_NOTES,
    response: flagViewCodec,
  },
  deleteFlag: { ...deleting, path: `${FLAGS}/{flagId}`, params: flagParams },
} as const satisfies Record<string, Endpoint>
