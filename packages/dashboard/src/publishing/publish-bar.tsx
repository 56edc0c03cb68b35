import { useQueryClient } from '@tanstack/react-query'
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import type { FieldIssue } from '../api/api-error.ts'
import { showToast } from '../components/toast.tsx'
import { isSame } from '../draft/configuration.ts'
import type { FlagDraft } from '../draft/flag-draft.ts'
import { hasSteps } from '../draft/history.ts'
import { useShortcuts } from '../keyboard/use-shortcuts.ts'
import { useOfflineSince } from '../layout/offline-bar.tsx'
import { messages } from '../messages/messages.ts'
import { useApi, useMay } from '../session/use-session.ts'
import type { FlagDraftHandle } from '../user-drafts/flag-draft-handle.ts'
import { ConvergenceBar } from './convergence-bar.tsx'
import { DraftBar } from './draft-bar.tsx'
import { MergeDialog } from './merge-dialog.tsx'
import { NewerBanner } from './newer-banner.tsx'
import styles from './publishing.module.css'
import { ReviewDialog } from './review-dialog.tsx'
import { offerUndo } from './undo-publish.ts'
import { useBottomBar } from './use-bottom-bar.ts'
import { useNewerConfiguration } from './use-newer-configuration.ts'
import { type Published, type Publisher, usePublish } from './use-publish.ts'

const { bar, conflict, published } = messages.publishing
/** The dialog returns the focus first, if it can. */
const FOCUS_DELAY_MS = 100
const NO_ISSUES: readonly FieldIssue[] = []

/** The properties of `PublishBar`. */
export interface PublishBarProps {
  readonly handle: FlagDraftHandle
  /** Receives the faults that the server finds when it refuses to publish; empty after a change. */
  readonly onIssues?: (issues: readonly FieldIssue[]) => void
  /** Receives `true` while the draft is sent, or its answer is lost. */
  readonly onSending?: (isSending: boolean) => void
}

/** The bar at the end of the page with the unpublished changes: review, publish, merge, undo. */
export function PublishBar(props: PublishBarProps) {
  const { flag, environment } = props.handle
  return <PublishBarOf key={`${environment.id} ${flag.id}`} {...props} />
}

function PublishBarOf({ handle, onIssues, onSending }: PublishBarProps) {
  const [isMerging, setMerging] = useState(false)
  const { publisher, newer } = usePublisher(handle, () => setMerging(false))
  const { phase } = publisher.state
  const isSending = isBeingSent(publisher)
  useEffect(() => onSending?.(isSending), [isSending, onSending])
  const hasDraft = handle.isChanged || hasSteps(handle.draft)
  const isVisible = hasDraft || phase === 'published'
  const refusal = useRefusal()
  const canReview = handle.isChanged && refusal === undefined
  useReviewShortcut(publisher, canReview && !isMerging && newer === undefined)
  useRefusedIssues(publisher, handle, onIssues)
  const element = useBottomBar()
  useFocusAfterPublish(element, phase === 'published')
  const merge = () => {
    publisher.close()
    setMerging(true)
  }
  return (
    <>
      {isVisible && (
        <div className={styles.bar} ref={element} tabIndex={-1}>
          {newer !== undefined && <NewerBanner author={newer.author} onMerge={merge} />}
          {phase === 'published' && !handle.isChanged && (
            <ConvergenceBar
              projectId={handle.flag.projectId}
              environment={handle.environment}
              version={publisher.state.publication.version}
            />
          )}
          {hasDraft && <DraftBar {...{ handle, refusal }} onReview={publisher.review} />}
        </div>
      )}
      <ReviewDialog handle={handle} publisher={publisher} newer={newer} onMerge={merge} />
      {isMerging && newer !== undefined && (
        <MergeDialog handle={handle} newer={newer} onClose={() => setMerging(false)} />
      )}
    </>
  )
}

/**
 * Returns the publisher of a draft, and the newer configuration that must be merged first. Calls
 * `onRebase` when a newer configuration became the base of the draft without a merge.
 */
function usePublisher(handle: FlagDraftHandle, onRebase: () => void) {
  const noteConflict = useRef<ReturnType<typeof useNewerConfiguration>['noteConflict']>(undefined)
  const offer = useOfferUndo(handle)
  const publisher = usePublish(handle, {
    onPublished: offer,
    onConflict: (current) => noteConflict.current?.(current),
  })
  const { phase } = publisher.state
  const found = useNewerConfiguration(handle, {
    isPaused: isBeingSent(publisher),
    onRebase: (draft) => {
      showRebase(handle.draft, draft, phase === 'conflict')
      handle.replace(draft)
      if (phase === 'conflict') publisher.close()
      else publisher.rebase(draft)
      onRebase()
    },
  })
  useEffect(() => {
    noteConflict.current = found.noteConflict
  })
  return { publisher, newer: found.newer }
}

/** Returns `true` while the draft is sent, or its answer is lost. */
function isBeingSent({ state: { phase } }: Publisher): boolean {
  return phase === 'publishing' || phase === 'unknown'
}

/** Says that names were changed elsewhere, and why a publish has not succeeded. */
function showRebase(before: FlagDraft, after: FlagDraft, wasRefused: boolean): void {
  const isRenamed = !isSame({ ...before.current, revision: after.current.revision }, after.current)
  if (wasRefused) showToast(conflict.notPublished)
  else if (isRenamed) showToast(conflict.renamed)
}

/** Moves the focus to the bar after a publish, because the button of the review is gone. */
function useFocusAfterPublish(
  element: RefObject<HTMLDivElement | null>,
  isPublished: boolean,
): void {
  useEffect(() => {
    if (!isPublished) return
    const timer = setTimeout(() => {
      if (document.activeElement === document.body) element.current?.focus()
    }, FOCUS_DELAY_MS)
    return () => clearTimeout(timer)
  }, [element, isPublished])
}

/** Returns why nothing can be published now: the role of the user, or a server without an answer. */
function useRefusal(): string | undefined {
  const { reason } = useMay('flags.write')
  const isOffline = useOfflineSince() !== undefined
  return reason ?? (isOffline ? messages.errors.offlineWithoutData : undefined)
}

/** `Ctrl/⌘ S` opens the review. */
function useReviewShortcut({ review }: Publisher, isActive: boolean): void {
  const latest = useRef(review)
  useEffect(() => {
    latest.current = review
  })
  const shortcuts = useMemo(() => {
    const shortcut = { name: bar.reviewShortcut, run: () => latest.current() }
    return isActive ? [{ ...shortcut, keys: ['mod+s'] as const }] : []
  }, [isActive])
  useShortcuts(shortcuts)
}

/** Passes the faults of a refused draft to the page, until the draft changes. */
function useRefusedIssues(
  { state }: Publisher,
  { draft }: FlagDraftHandle,
  onIssues: PublishBarProps['onIssues'],
): void {
  const [refused, setRefused] = useState({ issues: NO_ISSUES, configuration: draft.current })
  const refusal = state.phase === 'reviewing' ? state.refusal : undefined
  useEffect(() => {
    if (refusal === undefined) return
    setRefused({ issues: refusal.issues, configuration: draft.current })
  }, [refusal, draft.current])
  const issues = refused.configuration === draft.current ? refused.issues : NO_ISSUES
  useEffect(() => onIssues?.(issues), [issues, onIssues])
}

/** Returns a function that shows what was published, with a button that undoes it. */
function useOfferUndo(handle: FlagDraftHandle) {
  const api = useApi()
  const queryClient = useQueryClient()
  const latest = useRef(handle)
  useEffect(() => {
    latest.current = handle
  })
  return ({ review, update, etag }: Published) => {
    if (update.differences.length === 0) {
      showToast(published.unchanged)
      return
    }
    const { version } = update
    const previous = review.draft.base
    offerUndo({ api, queryClient, handle: () => latest.current, previous, version, etag })
  }
}
