import type { Environment, PreviewChange } from '@ff/protocol/management'
import { useEffect, useId, useMemo } from 'react'
import type { FieldIssue } from '../api/api-error.ts'
import { messages } from '../messages/messages.ts'
import styles from './impact/impact.module.css'
import { PreviewDraftContext } from './impact/preview-draft.ts'
import { previewIssues } from './impact/preview-refusal.tsx'
import { PreviewResult } from './impact/preview-result.tsx'
import { usePreview } from './impact/use-preview.ts'

const { impact } = messages.publishing

/** The properties of `ImpactPanel`. */
export interface ImpactPanelProps {
  readonly projectId: string
  readonly environment: Environment
  /** The changes of the draft. `undefined` if there is nothing to preview. */
  readonly changes: readonly PreviewChange[] | undefined
  /** Receives the faults that the server finds in the draft; their paths begin in the configuration. */
  readonly onIssues?: (issues: readonly FieldIssue[]) => void
}

/** What a draft changes for the observed contexts. The preview follows 400 ms after each change. */
export function ImpactPanel({ projectId, environment, changes, onIssues }: ImpactPanelProps) {
  const draft = { projectId, environmentId: environment.id, changes }
  const state = usePreview(draft)
  const heading = useId()
  const issues = useMemo(() => previewIssues(state.error), [state.error])
  useEffect(() => onIssues?.(issues), [issues, onIssues])
  return (
    <section className={styles.panel} aria-labelledby={heading} aria-busy={state.isStale}>
      <header>
        <h2 id={heading} aria-label={impact.titleIn(environment.name)}>
          {impact.title}
        </h2>
        <p className={styles.hint}>{impact.hint}</p>
      </header>
      {changes === undefined ? (
        <p className={styles.muted}>{impact.noChanges}</p>
      ) : (
        <PreviewDraftContext value={draft}>
          <PreviewResult state={state} environment={environment} />
        </PreviewDraftContext>
      )}
    </section>
  )
}
