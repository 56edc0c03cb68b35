import type { Segment } from '@ff/protocol/management'
import { Link, useParams } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Pager } from '../../components/list/pager.tsx'
import table from '../../components/list/table.module.css'
import { Page } from '../../components/page.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { SentenceText } from '../../components/text/sentence-text.tsx'
import { type Names, segmentSentence } from '../../draft/sentence.ts'
import { messages } from '../../messages/messages.ts'
import { useSegments } from '../../queries/use-queries.ts'
import { useMay } from '../../session/use-session.ts'
import { useChangedSegments } from '../../user-drafts/use-user-drafts.ts'
import { NewSegmentDialog } from './new-segment-dialog.tsx'
import { segmentNames } from './segment-names.ts'
import styles from './segments.module.css'

const { segments: texts, errors } = messages

/** The segments of a project. */
export function SegmentsPage() {
  const { project = '' } = useParams({ strict: false })
  const may = useMay('flags.write')
  const [isCreating, setCreating] = useState(false)
  const create = (
    <Button variant="primary" onPress={() => setCreating(true)} disabledReason={may.reason}>
      <Plus size={16} aria-hidden="true" />
      {texts.create}
    </Button>
  )
  return (
    <Page title={texts.title} actions={create}>
      <p className={styles.muted}>{texts.hint}</p>
      <SegmentList projectId={project} create={create} />
      {isCreating && <NewSegmentDialog projectId={project} onClose={() => setCreating(false)} />}
    </Page>
  )
}

interface SegmentListProps {
  readonly projectId: string
  /** The button that creates a segment, for a list without segments. */
  readonly create: ReactNode
}

function SegmentList({ projectId, create }: SegmentListProps) {
  const [page, setPage] = useState(1)
  const list = useSegments(projectId, page)
  const changed = useChangedSegments()
  if (list.isError) {
    const title = errors.loadFailed(texts.title)
    return <ErrorState title={title} error={list.error} onRetry={() => list.refetch()} />
  }
  if (list.data === undefined) return <Skeleton rows={4} />
  const { data, meta } = list.data
  if (meta.total === 0) return <EmptyState sentence={texts.empty} action={create} />
  const names = segmentNames(data)
  return (
    <>
      <div className={table.frame}>
        <table className={table.table}>
          <thead>
            <tr>
              <th>{texts.name}</th>
              <th>{texts.contains}</th>
              <th>{texts.listed}</th>
              <th>{texts.changed}</th>
            </tr>
          </thead>
          <tbody>
            {data.map((segment) => (
              <Row
                key={segment.id}
                segment={segment}
                names={names}
                hasDraft={changed.includes(segment.id)}
              />
            ))}
          </tbody>
        </table>
      </div>
      <Pager page={page} pageCount={meta.pageCount} onChange={setPage} />
    </>
  )
}

interface RowProps {
  readonly segment: Segment
  readonly names: Names
  /** `true` if the segment has unsaved changes in this tab. */
  readonly hasDraft: boolean
}

function Row({ segment, names, hasDraft }: RowProps) {
  const { id, projectId, key, name, rules, force, includedCount, excludedCount } = segment
  const words = segmentSentence(segment, names)
  return (
    <tr>
      <td data-label={texts.name}>
        <span className={styles.names}>
          <Link
            to="/p/$project/segments/$segment"
            params={{ project: projectId, segment: id }}
            className={styles.link}
          >
            <bdi className={table.long}>{name}</bdi>
          </Link>
          <code className={table.muted}>
            <bdi className={table.long}>{key}</bdi>
          </code>
          {hasDraft && <span className={styles.draft}>{texts.draft}</span>}
        </span>
      </td>
      <td data-label={texts.contains}>
        {force && texts.everything}
        {!force && rules.length === 0 && texts.onlyListed}
        {!force && rules.length > 0 && <SentenceText sentence={words} />}
      </td>
      <td data-label={texts.listed}>{texts.counts(includedCount, excludedCount)}</td>
      <td data-label={texts.changed}>
        <RelativeTime time={segment.updatedAt} />
      </td>
    </tr>
  )
}
