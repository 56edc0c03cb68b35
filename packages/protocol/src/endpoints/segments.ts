import { pageOf } from '../envelope.ts'
import { record } from '../record.ts'
import {
  newSegmentCodec,
  segmentChangesCodec,
  segmentCodec,
  segmentKeysCodec,
} from '../resources/segment.ts'
import { id } from '../scalars.ts'
import {
  changing,
  creating,
  deleting,
  type Endpoint,
  inProject,
  noQuery,
  pageQuery,
  projectParams,
  reading,
} from './endpoint.ts'
import { CONDITION_NOTES } from './targeting-rules.ts'

const SEGMENTS = '/projects/{projectId}/segments'
const segmentParams = record({ ...inProject, segmentId: id }, {})

export const segmentEndpoints = {
  listSegments: {
    ...reading,
    path: SEGMENTS,
    params: projectParams,
    query: pageQuery,
    response: pageOf(segmentCodec),
  },
  createSegment: {
    ...creating,
    path: SEGMENTS,
    params: projectParams,
    body: newSegmentCodec,
    notes: CONDITION_NOTES,
    response: segmentCodec,
  },
  getSegment: {
    ...reading,
    path: `${SEGMENTS}/{segmentId}`,
    params: segmentParams,
    query: noQuery,
    response: segmentCodec,
  },
  updateSegment: {
    ...changing,
    path: `${SEGMENTS}/{segmentId}`,
    params: segmentParams,
    body: segmentChangesCodec,
    notes: CONDITION_NOTES,
    response: segmentCodec,
  },
  deleteSegment: { ...deleting, path: `${SEGMENTS}/{segmentId}`, params: segmentParams },
  /** At most 10 000 keys a call, added and removed together. */
  changeSegmentKeys: {
    ...changing,
    method: 'POST',
    path: `${SEGMENTS}/{segmentId}/keys`,
    params: segmentParams,
    body: segmentKeysCodec,
    maxBodyBytes: 1024 * 1024,
    response: segmentCodec,
  },
} as const satisfies Record<string, Endpoint>
