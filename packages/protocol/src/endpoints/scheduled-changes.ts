import * as z from 'zod'
import { pageOf } from '../envelope.ts'
import { record } from '../record.ts'
import { newScheduledChangeCodec, scheduledChangeCodec } from '../resources/scheduled-change.ts'
import { id } from '../scalars.ts'
import {
  creating,
  deleting,
  type Endpoint,
  flagStateParams,
  ofFlagState,
  paging,
  pathNames,
  reading,
} from './endpoint.ts'
import { FLAG_STATE } from './flag-states.ts'

const SCHEDULED_CHANGES = `${FLAG_STATE}/scheduled-changes` as const
const scheduledChangeParams = record({ ...ofFlagState, changeId: id }, pathNames)
const status = z.enum(['pending', 'applied', 'failed']).optional()

const AUTHOR_NOTES =
  'The rights of the author are checked again when the change is due; without them the change fails ' +
  'with that reason.'

export const scheduledChangeEndpoints = {
  listScheduledChanges: {
    ...reading,
    path: SCHEDULED_CHANGES,
    params: flagStateParams,
    query: record({ status, ...paging }, {}),
    response: pageOf(scheduledChangeCodec),
  },
  createScheduledChange: {
    ...creating,
    path: SCHEDULED_CHANGES,
    params: flagStateParams,
    body: newScheduledChangeCodec,
    notes: AUTHOR_NOTES,
    response: scheduledChangeCodec,
  },
  /** Only while it is pending. */
  deleteScheduledChange: {
    ...deleting,
    path: `${SCHEDULED_CHANGES}/{changeId}`,
    params: scheduledChangeParams,
  },
} as const satisfies Record<string, Endpoint>
