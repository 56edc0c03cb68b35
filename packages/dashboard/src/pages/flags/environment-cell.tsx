import type { Environment, EnvironmentSummary, FlagSummary } from '@ff/protocol/management'
import { ShareBar } from '../../components/share-bar.tsx'
import { SentenceText } from '../../components/text/sentence-text.tsx'
import { FlagSwitch } from '../../flag-switch/flag-switch.tsx'
import { messages } from '../../messages/messages.ts'
import { textOf } from '../../messages/phrases/fragment.ts'
import { cellSentence } from './cell-sentence.ts'
import styles from './flags.module.css'
import { Mark } from './mark.tsx'

const { marks } = messages.flags

/** The properties of `EnvironmentCell`. */
export interface EnvironmentCellProps {
  readonly flag: FlagSummary
  readonly environment: Environment
  readonly hasDraft: boolean
  readonly isCompact: boolean
}

/** What a flag does in an environment: switch, sentence, split and marks. */
export function EnvironmentCell({ flag, environment, hasDraft, isCompact }: EnvironmentCellProps) {
  const summary = flag.environments.find((each) => each.environmentId === environment.id)
  if (summary === undefined) return null
  const sentence = cellSentence(flag.variations, summary)
  const { pendingChanges, isActive, split } = summary
  const hasBar = split !== null && isActive
  return (
    <>
      <FlagSwitch flag={flag} environment={environment} isActive={isActive} isCompact={isCompact} />
      <div className={styles.effect}>
        <div className={styles.line}>
          <span className={styles.sentence} title={textOf(sentence)}>
            <SentenceText sentence={sentence} />
          </span>
          {hasDraft && <Mark kind="draft" text={marks.draft} hint={marks.draftHint} />}
          {pendingChanges > 0 && (
            <Mark kind="plain" text={marks.scheduled} hint={marks.scheduledHint(pendingChanges)} />
          )}
        </div>
        <Split flag={flag} split={hasBar ? split : null} />
      </div>
    </>
  )
}

interface SplitProps {
  readonly flag: FlagSummary
  readonly split: EnvironmentSummary['split']
}

/** The bar of a rollout. While the flag is off, no context is in the rollout, and there is no bar. */
function Split({ flag, split }: SplitProps) {
  if (split === null) return null
  const shares = split.map(({ variationId, percent }) => {
    const index = flag.variations.findIndex(({ id }) => id === variationId)
    return { id: variationId, name: flag.variations[index]?.name ?? variationId, index, percent }
  })
  return (
    <span className={styles.split}>
      <ShareBar shares={shares} />
    </span>
  )
}
