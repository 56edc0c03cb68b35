import type { PreviewChange, Segment } from '@ff/protocol/management'
import { useMemo } from 'react'
import { EnvironmentDot } from '../../components/environment-dot.tsx'
import { isSame } from '../../draft/configuration.ts'
import { type SegmentDraft, segmentRequests } from '../../draft/segment-draft.ts'
import { ImpactPanel } from '../../publishing/impact-panel.tsx'
import { useProject } from '../../queries/use-queries.ts'
import styles from './segments.module.css'

/** The maximum number of changes of one preview. */
const MOST_CHANGES = 50

/** The properties of `SegmentImpact`. */
export interface SegmentImpactProps {
  readonly segment: Segment
  readonly draft: SegmentDraft
}

/** What the draft of a segment changes in each environment. */
export function SegmentImpact({ segment, draft }: SegmentImpactProps) {
  const { id, projectId } = segment
  const environments = useProject(projectId).data?.environments ?? []
  const changes = useMemo(() => previewChanges(id, draft), [id, draft])
  return (
    <div className={styles.impacts}>
      {environments.map((environment) => (
        <div key={environment.id} className={styles.impact}>
          <EnvironmentDot name={environment.name} isProduction={environment.isProduction} />
          <ImpactPanel
            projectId={projectId}
            environment={environment}
            changes={changes.length === 0 ? undefined : changes}
          />
        </div>
      ))}
    </div>
  )
}

/** Returns the changes that can affect a result. A name affects none. */
function previewChanges(segmentId: string, draft: SegmentDraft): readonly PreviewChange[] {
  const { base, current } = draft
  const { rules, logicalOp, force } = current
  const isOther = !isSame(base.rules, rules) || base.logicalOp !== logicalOp || base.force !== force
  const settings: PreviewChange[] = isOther
    ? [{ kind: 'segment', segmentId, rules: [...rules], logicalOp, force }]
    : []
  const keys = segmentRequests(draft).keys.map((lists): PreviewChange => {
    return { kind: 'segment', segmentId, ...lists }
  })
  return [...settings, ...keys].slice(0, MOST_CHANGES)
}
