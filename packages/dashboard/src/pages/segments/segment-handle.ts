import type { Segment } from '@ff/protocol/management'
import { createContext, use } from 'react'
import type { FieldIssue } from '../../api/api-error.ts'
import type { Option } from '../../components/select.tsx'
import { isSame } from '../../draft/configuration.ts'
import { isChanged, restoredHistory } from '../../draft/history.ts'
import {
  type SegmentDraft,
  type SegmentDraftAction,
  startSegmentDraft,
} from '../../draft/segment-draft.ts'
import { useRecordDraft } from '../../user-drafts/use-record-draft.ts'
import { useUserDrafts } from '../../user-drafts/use-user-drafts.ts'

/** What the parts of the page of a segment need. */
export interface SegmentHandle {
  /** The segment as the server has it. */
  readonly segment: Segment
  readonly draft: SegmentDraft
  readonly isChanged: boolean
  /** The faults that the server has found in the draft. */
  readonly issues: readonly FieldIssue[]
  /** The segments that conditions can refer to. */
  readonly segments: readonly Option[]
  /** The reason why the user may not change the segment. */
  readonly disabledReason: string | undefined
  readonly dispatch: (action: SegmentDraftAction) => void
}

/** What receives the result of an attempt to save a draft. */
export interface DraftReceiver {
  /** Replaces the draft of a loaded segment; `undefined` ends it. */
  readonly onReplace: (loaded: Segment, draft: SegmentDraft | undefined) => void
  /** Receives the faults that the server has found in a draft. */
  readonly onIssues: (issues: readonly FieldIssue[], draft: SegmentDraft) => void
}

/** The handle of the page. */
export const SegmentContext = createContext<SegmentHandle | undefined>(undefined)

/** Returns the handle of the page. */
export function useSegmentHandle(): SegmentHandle {
  const handle = use(SegmentContext)
  if (handle === undefined) throw new Error('SegmentContext is missing')
  return handle
}

/** Returns the draft of a segment, which survives a reload, with the functions that change it. */
export function useSegmentDraft(segment: Segment) {
  const { segments: store } = useUserDrafts()
  const draft = useRecordDraft(store, segment, startSegmentDraft)
  return {
    draft,
    isChanged: isChanged(draft),
    dispatch: (action: SegmentDraftAction) => store.dispatch(segment.id, action),
    replace: (loaded: Segment, next: SegmentDraft | undefined) => store.replace(loaded, next),
  }
}

const SETTINGS = ['name', 'description', 'rules', 'logicalOp', 'force', 'keyAttribute'] as const

/** Returns a draft with the same changes, on the basis of a newer segment. */
export function withNewerBase({ base, current }: SegmentDraft, newer: Segment): SegmentDraft {
  const start = startSegmentDraft(newer)
  const own = SETTINGS.filter((field) => !isSame(base[field], current[field]))
  const changed = Object.fromEntries(own.map((field) => [field, current[field]]))
  const { included, excluded } = current
  const next = { ...start.base, ...changed, included, excluded }
  return { ...start, ...restoredHistory(start.base, next) }
}
