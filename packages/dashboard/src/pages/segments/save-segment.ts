import { type Segment, type SegmentKeys, segmentCodec } from '@ff/protocol/management'
import type { Api } from '../../api/api.ts'
import { ApiError, errorDataOf } from '../../api/api-error.ts'
import { isChanged } from '../../draft/history.ts'
import { type SegmentDraft, segmentRequests } from '../../draft/segment-draft.ts'
import { withNewerBase } from './segment-handle.ts'

/** The draft after an attempt to save it. */
export interface SaveResult {
  /** The draft with the changes that are not saved. */
  readonly draft: SegmentDraft
  /** The segment as the server has it now; `undefined` if no request succeeded. */
  readonly segment: Segment | undefined
  /** The refusal of the server; `undefined` if all changes are saved. */
  readonly error: ApiError | undefined
  /** `true` if the segment was changed elsewhere. The draft is then based on the newer segment. */
  readonly isStale: boolean
}

/** What `saveSegment` saves. */
export interface SaveInput {
  readonly segment: Segment
  readonly draft: SegmentDraft
  readonly comment: string
}

/** Returns the `ETag` of a revision of a segment. */
export function revisionTag({ revision }: Pick<Segment, 'revision'>): string {
  return `"${revision}"`
}

/**
 * Saves the draft of a segment: its fields, and then its listed keys, at most 10,000 in a request.
 * Changes that are saved before a refusal do not remain in the draft.
 */
export async function saveSegment(api: Api, input: SaveInput): Promise<SaveResult> {
  const { id: segmentId, projectId } = input.segment
  const params = { projectId, segmentId }
  const { comment } = input
  let { draft } = input
  let segment: Segment | undefined
  const { update, keys } = segmentRequests(draft)
  try {
    if (update !== null) {
      const call = { params, body: update, ifMatch: revisionTag(draft), comment }
      segment = (await api.call('updateSegment', call)).data
      draft = withNewerBase(draft, segment)
    }
    for (const body of keys) {
      segment = (await api.call('changeSegmentKeys', { params, body, comment })).data
      draft = withNewerBase(withoutKeys(draft, body), segment)
    }
    return { draft, segment, error: undefined, isStale: false }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return refusal(error, draft, segment)
  }
}

/** Returns a draft without keys that are saved. */
function withoutKeys(draft: SegmentDraft, saved: SegmentKeys): SegmentDraft {
  const { list, add = [], remove = [] } = saved
  const keys = new Set([...add, ...remove])
  const pending = draft.current[list]
  const rest = {
    add: pending.add.filter((key) => !keys.has(key)),
    remove: pending.remove.filter((key) => !keys.has(key)),
  }
  return { ...draft, current: { ...draft.current, [list]: rest } }
}

function refusal(error: ApiError, unsaved: SegmentDraft, segment: Segment | undefined): SaveResult {
  const newer = error.status === 409 ? errorDataOf(error, segmentCodec) : undefined
  if (newer === undefined) return { draft: unsaved, segment, error, isStale: false }
  const draft = withNewerBase(unsaved, newer)
  const isSaved = !isChanged(draft)
  return { draft, segment: newer, error: isSaved ? undefined : error, isStale: true }
}
