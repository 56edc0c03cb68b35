import type { Segment } from '@ff/protocol/management'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, use, useCallback, useEffect } from 'react'
import type { FieldIssue } from '../../api/api-error.ts'
import type { Option } from '../../components/select.tsx'
import { isSame } from '../../draft/configuration.ts'
import { isChanged, restoredHistory } from '../../draft/history.ts'
import {
  reduceSegmentDraft,
  type SegmentDraft,
  type SegmentDraftAction,
  startSegmentDraft,
} from '../../draft/segment-draft.ts'

/** A segment with its `ETag`. */
export interface LoadedSegment {
  readonly data: Segment
  readonly etag: string | undefined
}

/** The draft of a segment, and the `ETag` of the segment from which it started. */
export interface HeldDraft {
  readonly draft: SegmentDraft
  readonly etag: string | undefined
}

/** What the parts of the page of a segment need. */
export interface SegmentHandle extends HeldDraft {
  readonly segment: Segment
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
  /** Replaces the draft; `undefined` ends it. */
  readonly onReplace: (held: HeldDraft | undefined) => void
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

/**
 * Keeps the draft of a segment in memory, beside the data of the server: other pages do not end it,
 * and a log-out does. Leaving the application asks first.
 */
export function useHeldDraft({ data: segment, etag }: LoadedSegment) {
  const queryClient = useQueryClient()
  const queryKey = ['segmentDraft', segment.id]
  const { data: stored } = useQuery<HeldDraft>({ queryKey, enabled: false, gcTime: Infinity })
  const isKept = stored !== undefined && (stored.etag === etag || isChanged(stored.draft))
  const held = isKept ? stored : { draft: startSegmentDraft(segment), etag }
  const set = useCallback(
    (next: HeldDraft | undefined) => {
      const key = ['segmentDraft', segment.id]
      if (next === undefined) queryClient.removeQueries({ queryKey: key })
      queryClient.setQueryData<HeldDraft>(key, next)
    },
    [queryClient, segment.id],
  )
  const dispatch = (action: SegmentDraftAction) =>
    set({ draft: reduceSegmentDraft(held.draft, action), etag: held.etag })
  const hasChanges = isChanged(held.draft)
  useEffect(() => {
    if (!hasChanges) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [hasChanges])
  return { held, set, dispatch, isChanged: hasChanges }
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
