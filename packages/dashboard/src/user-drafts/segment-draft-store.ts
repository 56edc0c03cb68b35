import type { Segment } from '@ff/protocol/management'
import {
  reduceSegmentDraft,
  type SegmentDraft,
  type SegmentDraftAction,
  startSegmentDraft,
} from '../draft/segment-draft.ts'
import type { DraftStorage, RecordPlace } from './draft-storage.ts'
import { RecordDraftStore } from './record-draft-store.ts'

/** The drafts of segments. */
export type SegmentDraftStore = RecordDraftStore<Segment, SegmentDraft, SegmentDraftAction>

/** Creates the store for the drafts of segments. */
export function createSegmentDraftStore(
  storage: DraftStorage<RecordPlace, SegmentDraft>,
): SegmentDraftStore {
  return new RecordDraftStore(storage, { start: startSegmentDraft, reduce: reduceSegmentDraft })
}
