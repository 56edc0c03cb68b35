import { useParams } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { FieldIssue } from '../../api/api-error.ts'
import { Button } from '../../components/button.tsx'
import { Page } from '../../components/page.tsx'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { messages } from '../../messages/messages.ts'
import { useSegment, useSegments } from '../../queries/use-queries.ts'
import { useMay } from '../../session/use-session.ts'
import { DeleteSegmentDialog } from './delete-segment-dialog.tsx'
import { ListedKeys } from './listed-keys.tsx'
import { SegmentBar } from './segment-bar.tsx'
import { SegmentConditions } from './segment-conditions.tsx'
import { type LoadedSegment, SegmentContext, useHeldDraft } from './segment-handle.ts'
import { SegmentSettings } from './segment-settings.tsx'
import styles from './segments.module.css'

const { segments: texts, errors } = messages
const NO_ISSUES: readonly FieldIssue[] = []

/** A segment with its conditions and its listed keys. */
export function SegmentPage() {
  const { project = '', segment = '' } = useParams({ strict: false })
  const loaded = useSegment(project, segment)
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
  return <LoadedSegmentPage key={segment} loaded={loaded.data} />
}

function LoadedSegmentPage({ loaded }: { readonly loaded: LoadedSegment }) {
  const segment = loaded.data
  const { held, set, dispatch, isChanged } = useHeldDraft(loaded)
  const [found, setFound] = useState({ issues: NO_ISSUES, draft: held.draft })
  const [isDeleting, setDeleting] = useState(false)
  const { reason: disabledReason } = useMay('flags.write')
  const others = useSegments(segment.projectId).data?.data
  const segments = useMemo(() => {
    const listed = (others ?? []).filter(({ id }) => id !== segment.id)
    return listed.map(({ id, name }) => ({ id, name }))
  }, [others, segment.id])
  // A fault belongs to the draft that was sent; a change removes it.
  const issues = found.draft === held.draft ? found.issues : NO_ISSUES
  const handle = { ...held, segment, isChanged, issues, segments, disabledReason, dispatch }
  return (
    <Page
      title={segment.name}
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
          loaded={loaded}
          onReplace={set}
          onIssues={(next, draft) => setFound({ issues: next, draft })}
        />
      </SegmentContext>
      {isDeleting && <DeleteSegmentDialog segment={segment} onClose={() => setDeleting(false)} />}
    </Page>
  )
}
