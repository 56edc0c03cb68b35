import { type ReactNode, useMemo } from 'react'
import { EnvironmentDot } from '../components/environment-dot.tsx'
import { SentenceText } from '../components/text/sentence-text.tsx'
import type { Difference } from '../draft/difference.ts'
import { configurationWarnings } from '../draft/warnings.ts'
import { messages } from '../messages/messages.ts'
import type { FlagDraftHandle } from '../user-drafts/flag-draft-handle.ts'
import { draftChanges } from './draft-changes.ts'
import { PreviewDraftContext } from './impact/preview-draft.ts'
import { PreviewResult } from './impact/preview-result.tsx'
import { usePreview } from './impact/use-preview.ts'
import styles from './publishing.module.css'
import { useDraftDifferences } from './use-draft-differences.ts'

const { review: words } = messages.publishing
const { dangers } = messages.draft

/** The properties of `ReviewContent`. */
export interface ReviewContentProps {
  readonly handle: FlagDraftHandle
  /** The field of the note. */
  readonly children: ReactNode
}

/** What a draft changes, from top to bottom: the changes, the moves, the note, the warnings. */
export function ReviewContent({ handle, children }: ReviewContentProps) {
  const { flag, environment, draft } = handle
  const { differences, now } = useDraftDifferences(handle)
  const changes = useMemo(() => draftChanges(handle), [handle])
  const place = { projectId: flag.projectId, environmentId: environment.id, changes }
  const state = usePreview(place)
  const others = state.preview?.flags.filter(({ flagId }) => flagId !== flag.id) ?? []
  const dependents = others.map(({ key }) => key)
  const warnings = configurationWarnings(draft.base, draft.current, { now, dependents })
  return (
    <>
      <div className={styles.part}>
        <p className={styles.facts}>
          <bdi className={styles.strong}>{flag.name}</bdi>
          <EnvironmentDot name={environment.name} isProduction={environment.isProduction} />
        </p>
        {!draft.current.state.isActive && (
          <p className={styles.muted}>{words.isOff(environment.name)}</p>
        )}
      </div>
      <section className={styles.part}>
        <h3>{words.changes}</h3>
        <DifferenceList differences={differences} />
      </section>
      <section className={styles.part}>
        <h3>{words.impact}</h3>
        <PreviewDraftContext value={place}>
          <PreviewResult state={state} environment={environment} />
        </PreviewDraftContext>
      </section>
      {children}
      {warnings.length > 0 && (
        <section className={styles.part}>
          <h3>{words.warnings}</h3>
          <ul className={styles.warnings}>
            {warnings.map(({ kind, sentence, ruleId = '', rolloutId = '' }) => (
              <li key={`${kind} ${ruleId} ${rolloutId}`}>
                <SentenceText sentence={sentence} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

/** The properties of `DifferenceList`. */
export interface DifferenceListProps {
  readonly differences: readonly Difference[]
  /** What is shown if there are no changes. */
  readonly none?: string
}

/** Changes as sentences. Dangerous ones are coloured and say why. */
export function DifferenceList({ differences, none = words.noChanges }: DifferenceListProps) {
  if (differences.length === 0) return <p className={styles.muted}>{none}</p>
  return (
    <ul className={styles.changes}>
      {differences.map(({ sentence, danger }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two changes can have the same words
        <li key={index} className={danger === null ? undefined : styles.danger}>
          <SentenceText sentence={sentence} />
          {danger !== null && (
            <p className={styles.dangerWords}>
              {words.dangerous} {dangers[danger]}
            </p>
          )}
        </li>
      ))}
    </ul>
  )
}
