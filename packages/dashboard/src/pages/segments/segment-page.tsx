import type { Segment } from '@ff/protocol/management'
import { Link, useParams } from '@tanstack/react-router'
import { useMemo, useState, useSyncExternalStore } from 'react'
import { type FieldIssue, isMissing } from '../../api/api-error.ts'
import { Button } from '../../components/button.tsx'
import { Gone } from '../../components/gone.tsx'
import { Page } from '../../components/page.tsx'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { gone } from '../../messages/en/errors.ts'
import { messages } from '../../messages/messages.ts'
import { useSegment, useSegments } from '../../queries/use-queries.ts'
import { useMay } from '../../session/use-session.ts'
import { useUserDrafts } from '../../user-drafts/use-user-drafts.ts'
import { DeleteSegmentDialog } from './delete-segment-dialog.tsx'
import { ListedKeys } from './listed-keys.tsx'
import { SegmentBar } from './segment-bar.tsx'
import { SegmentConditions } from './segment-conditions.tsx'
import { SegmentContext, useSegmentDraft } from './segment-handle.ts'
import { SegmentSettings } from './segment-settings.tsx'
import styles from './segments.module.css'

const { segments: texts, errors } = messages
const NO_ISSUES: readonly FieldIssue[] = []

/** A segment with its conditions and its listed keys. */
export function SegmentPage() {
  const { project = '', segment = '' } = useParams({ strict: false })
  const loaded = useSegment(project, segment)
  if (isMissing(loaded.error)) {
    return <GoneSegment project={project} segment={loaded.data?.data} name={segment} />
  }
  if (loaded.isError) {
    return (
      <Page title={texts.segmentTitle}>
        <ErrorState
          title={errors.loadFailed(texts.segmentTitle)}
          error={loaded.error}
          onRetry={() => loaded.refetch()}
        />
      </Page>
    )
  }
  if (loaded.data === undefined) {
    return (
      <Page title={texts.segmentTitle}>
        <Skeleton rows={4} />
      </Page>
    )
  }
  return <LoadedSegmentPage key={segment} segment={loaded.data.data} />
}

interface GoneSegmentProps {
  readonly project: string
  /** The segment, if it was deleted while it was open. */
  readonly segment: Segment | undefined
  /** The key or the id in the address. */
  readonly name: string
}

function GoneSegment({ project, segment, name }: GoneSegmentProps) {
  const { segments: drafts } = useUserDrafts()
  const isDraft = useSyncExternalStore(drafts.subscribe, drafts.changedIds)
  const id = segment?.id ?? ''
  const onDiscard = isDraft.includes(id) ? () => drafts.forget(id) : undefined
  return (
    <Gone title={gone.segment(segment?.name ?? name)} recordId={id} onDiscard={onDiscard}>
      <p>
        <Link to="/p/$project/segments" params={{ project }}>
          {gone.segments}
        </Link>
      </p>
    </Gone>
  )
}

function LoadedSegmentPage({ segment }: { readonly segment: Segment }) {
  const { draft, replace, dispatch, isChanged } = useSegmentDraft(segment)
  const [found, setFound] = useState({ issues: NO_ISSUES, draft })
  const [isDeleting, setDeleting] = useState(false)
  const { reason: disabledReason } = useMay('flags.write')
  const others = useSegments(segment.projectId).data?.data
  const segments = useMemo(() => {
    const listed = (others ?? []).filter(({ id }) => id !== segment.id)
    return listed.map(({ id, name }) => ({ id, name }))
  }, [others, segment.id])
  // A fault belongs to the draft that was sent; a change removes it.
  const issues = found.draft === draft ? found.issues : NO_ISSUES
  const handle = { segment, draft, isChanged, issues, segments, disabledReason, dispatch }
  return (
    <Page
      title={segment.name}
      isChanged={isChanged}
      back={
        <Link
          to="/p/$project/segments"
          params={{ project: segment.projectId }}
          className={styles.back}
        >
          {texts.title}
        </Link>
      }
      actions={
        <Button onPress={() => setDeleting(true)} disabledReason={disabledReason}>
          {texts.deleteSegment}
        </Button>
      }
    >
      <SegmentContext value={handle}>
        <code className={styles.muted}>{segment.key}</code>
        <div className={styles.parts}>
          <SegmentConditions />
          <ListedKeys />
          <SegmentSettings />
        </div>
        <SegmentBar
          onReplace={replace}
          onIssues={(next, sent) => setFound({ issues: next, draft: sent })}
        />
      </SegmentContext>
      {isDeleting && <DeleteSegmentDialog segment={segment} onClose={() => setDeleting(false)} />}
    </Page>
  )
}
