import { useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { SentenceText } from '../../../components/text/sentence-text.tsx'
import type { Target } from '../../../draft/configuration.ts'
import { targetSentence } from '../../../draft/sentence.ts'
import { targeting } from '../../../messages/en/targeting.ts'
import { ChangedMark } from '../editing/changed-mark.tsx'
import { faultBelow, useEditing } from '../editing/editing.ts'
import { Section } from './section.tsx'
import styles from './targeting.module.css'
import { TargetsDialog } from './targets-dialog.tsx'

const { targets: texts } = targeting

/** The individual targets, by variation and context kind. */
export function TargetsSection() {
  const { handle, refusal, issues } = useEditing()
  const [edited, setEdited] = useState<Target | 'new'>()
  const { targets } = handle.draft.current.state
  const fault = faultBelow(issues, 'state.targets')
  return (
    <Section
      title={texts.title}
      mark={<ChangedMark fields={[{ part: 'state', field: 'targets' }]} name={texts.title} />}
      action={
        <Button disabledReason={refusal} onPress={() => setEdited('new')}>
          {texts.add}
        </Button>
      }
    >
      {targets.length === 0 && <p className={styles.muted}>{texts.none}</p>}
      <ul className={styles.rows}>
        {targets.map((target) => (
          <TargetRow
            key={`${target.kind} ${target.variationId}`}
            target={target}
            onEdit={() => setEdited(target)}
          />
        ))}
      </ul>
      {fault !== undefined && <p className={styles.fault}>{fault}</p>}
      {edited !== undefined && (
        <TargetsDialog target={edited} onClose={() => setEdited(undefined)} />
      )}
    </Section>
  )
}

interface TargetRowProps {
  readonly target: Target
  readonly onEdit: () => void
}

function TargetRow({ target, onEdit }: TargetRowProps) {
  const { names, refusal } = useEditing()
  const label = texts.of(target.kind, names.variation(target.variationId))
  return (
    <li className={styles.row}>
      <span className={styles.content}>
        <SentenceText sentence={targetSentence(target, names)} />
      </span>
      <span className={styles.muted}>{texts.count(target.keys.length)}</span>
      <Button
        variant="ghost"
        aria-label={`${texts.edit}: ${label}`}
        disabledReason={refusal}
        onPress={onEdit}
      >
        {texts.edit}
      </Button>
    </li>
  )
}
