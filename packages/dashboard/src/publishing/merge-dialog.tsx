import { useId, useMemo, useState } from 'react'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { SentenceText } from '../components/text/sentence-text.tsx'
import { showToast } from '../components/toast.tsx'
import { conflictWords } from '../draft/change-words.ts'
import { isSame } from '../draft/configuration.ts'
import { configurationDifferences } from '../draft/differences.ts'
import { startFlagDraft } from '../draft/flag-draft.ts'
import { type Conflict, mergeConfigurations, resolveConflicts } from '../draft/merge.ts'
import type { Side } from '../draft/merge-fields.ts'
import type { Names } from '../draft/sentence.ts'
import { messages } from '../messages/messages.ts'
import { useNames } from '../queries/use-names.ts'
import type { FlagDraftHandle } from '../user-drafts/flag-draft-handle.ts'
import { newerSentence } from './newer-banner.tsx'
import styles from './publishing.module.css'
import { DifferenceList } from './review-content.tsx'
import type { NewerConfiguration } from './use-newer-configuration.ts'

const { conflict: words } = messages.publishing
const SIDES: readonly Side[] = ['before', 'theirs', 'yours']

/** The properties of `MergeDialog`. */
export interface MergeDialogProps {
  readonly handle: FlagDraftHandle
  readonly newer: NewerConfiguration
  readonly onClose: () => void
}

/** The merge of a newer version into a draft: what is merged automatically, and what is chosen. */
export function MergeDialog({ handle, newer, onClose }: MergeDialogProps) {
  const { flag, environment, draft } = handle
  const [choices, setChoices] = useState<ReadonlyMap<string, Side>>(new Map())
  const names = useNames(flag, [draft.base, draft.current, newer.configuration])
  const merge = useMemo(() => {
    const sides = { before: draft.base, theirs: newer.configuration, yours: draft.current }
    return mergeConfigurations(sides)
  }, [draft.base, draft.current, newer.configuration])
  const missing = merge.conflicts.filter(({ id }) => !choices.has(id)).length
  const finish = () => {
    const current = resolveConflicts(merge, choices)
    const { configuration: base, etag, author } = newer
    const version = author?.version ?? null
    handle.replace({ ...startFlagDraft({ base, etag, version }), current })
    showToast(isSame(base, current) ? words.mergedWithoutChanges : words.merged)
    onClose()
  }
  const options = { names, isProduction: environment.isProduction, now: Date.now() }
  return (
    <Dialog
      title={words.title}
      isOpen
      onClose={onClose}
      isWide
      actions={
        <>
          <Button onPress={onClose}>{messages.components.cancel}</Button>
          <Button
            variant="primary"
            onPress={finish}
            disabledReason={missing === 0 ? undefined : words.incomplete(missing)}
          >
            {words.confirm}
          </Button>
        </>
      }
    >
      <p>
        <bdi>{newerSentence(newer.author)}</bdi>
      </p>
      <section className={styles.part}>
        <h3>{words.automatic}</h3>
        <h4>{words.theirs}</h4>
        <DifferenceList
          differences={configurationDifferences(draft.current, merge.configuration, options)}
          none={words.automaticNone}
        />
      </section>
      <ConflictList {...{ conflicts: merge.conflicts, names, choices, setChoices }} />
      <p className={styles.muted}>{words.result}</p>
    </Dialog>
  )
}

interface ConflictListProps {
  readonly conflicts: readonly Conflict[]
  readonly names: Names
  readonly choices: ReadonlyMap<string, Side>
  readonly setChoices: (choices: ReadonlyMap<string, Side>) => void
}

function ConflictList({ conflicts, names, choices, setChoices }: ConflictListProps) {
  if (conflicts.length === 0) return <p>{words.noConflicts}</p>
  return (
    <section className={styles.part}>
      <h3>{words.choose}</h3>
      {conflicts.map((conflict) => (
        <ConflictChoice
          key={conflict.id}
          conflict={conflict}
          names={names}
          chosen={choices.get(conflict.id)}
          onChoose={(side) => setChoices(new Map([...choices, [conflict.id, side]]))}
        />
      ))}
    </section>
  )
}

interface ConflictChoiceProps {
  readonly conflict: Conflict
  readonly names: Names
  readonly chosen: Side | undefined
  readonly onChoose: (side: Side) => void
}

function ConflictChoice({ conflict, names, chosen, onChoose }: ConflictChoiceProps) {
  const group = useId()
  const { title, ...values } = conflictWords(conflict, names)
  return (
    <fieldset className={styles.conflict}>
      <legend>
        <SentenceText sentence={title} />
      </legend>
      {SIDES.map((side) => (
        <label key={side} className={styles.side}>
          <input
            type="radio"
            name={group}
            checked={chosen === side}
            onChange={() => onChoose(side)}
          />
          <span>
            <span className={styles.column}>{words.columns[side]}</span>
            <SentenceText sentence={values[side]} />
          </span>
        </label>
      ))}
    </fieldset>
  )
}
