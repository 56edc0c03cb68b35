import type { Environment } from '@ff/protocol/management'
import { messages } from '../../messages/messages.ts'
import { classNames } from '../../style/class-names.ts'
import { FlagMoves } from './flag-moves.tsx'
import styles from './impact.module.css'
import { ImpactSummary } from './impact-summary.tsx'
import { PreviewRefusal } from './preview-refusal.tsx'
import { UnknownAttributes } from './unknown-attributes.tsx'
import type { PreviewState } from './use-preview.ts'

const { impact } = messages.publishing

/** The number of flags whose moves are shown. */
const SHOWN_FLAGS = 20

/** The properties of `PreviewResult`. */
export interface PreviewResultProps {
  readonly state: PreviewState
  readonly environment: Environment
}

/** The result of a preview: the numbers, the moves, and what is not known. */
export function PreviewResult({ state, environment }: PreviewResultProps) {
  const { preview, error, isStale, isWaiting } = state
  if (error !== undefined && !isStale) return <PreviewRefusal error={error} />
  return (
    <div className={classNames(styles.result, isStale && preview && styles.stale)}>
      <ImpactSummary state={state} />
      {isWaiting && <p className={styles.muted}>{impact.waiting}</p>}
      {preview !== undefined && (
        <>
          <UnknownAttributes preview={preview} environment={environment} />
          {preview.flags.slice(0, SHOWN_FLAGS).map((flag, index) => (
            <FlagMoves
              key={flag.flagId}
              flag={flag}
              isOnly={preview.flags.length === 1}
              isFirst={index === 0}
            />
          ))}
          {preview.flags.length > SHOWN_FLAGS && (
            <p className={styles.muted}>{impact.moreFlags(preview.flags.length - SHOWN_FLAGS)}</p>
          )}
        </>
      )}
    </div>
  )
}
