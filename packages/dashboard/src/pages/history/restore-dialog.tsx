import type { Environment } from '@ff/protocol/management'
import { useEffect, useMemo, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/text-field.tsx'
import { showToast } from '../../components/toast.tsx'
import { messages } from '../../messages/messages.ts'
import { ImpactPanel } from '../../publishing/impact-panel.tsx'
import { noteFault, noteOf } from '../../publishing/note.ts'
import { ChangesOfVersions } from './changes-of-versions.tsx'
import styles from './history.module.css'
import { type RestoreState, useRestore } from './use-restore.ts'
import { useVersionPair } from './use-version-pair.ts'
import { skippedByRestore } from './version-differences.ts'

const { restore: words } = messages.history
const { review } = messages.publishing

/** The properties of `RestoreDialog`. */
export interface RestoreDialogProps {
  readonly environment: Environment
  readonly version: number
  /** The current version. */
  readonly newest: number
  readonly onClose: () => void
}

/** What a restore of a version would change and keep, its impact, and the button that restores. */
export function RestoreDialog({ environment, version, newest, onClose }: RestoreDialogProps) {
  const { state, restore } = useRestore(environment, version)
  const [note, setNote] = useState('')
  const [isChecked, setChecked] = useState(false)
  const fault = noteFault(note, environment.commentRequired)
  const isBusy = state.phase === 'restoring'
  const changes = useMemo(() => [{ kind: 'restore' as const, version }], [version])
  const { id: environmentId, projectId } = environment
  useEffect(() => {
    if (state.phase !== 'restored') return
    const isUnchanged = state.restoration.flags.length === 0
    showToast(isUnchanged ? words.unchanged : words.done(version))
    onClose()
  }, [state, version, onClose])
  const confirm = () => {
    setChecked(true)
    if (fault === undefined) void restore(note)
  }
  return (
    <Dialog
      title={words.title(version)}
      isOpen
      onClose={onClose}
      isWide
      canDismiss={!isBusy}
      actions={
        <>
          <Button onPress={onClose} isDisabled={isBusy}>
            {messages.components.cancel}
          </Button>
          <Button variant="primary" onPress={confirm}>
            {words.confirm(version, environment.name)}
          </Button>
        </>
      }
    >
      <p>{words.hint(environment.name)}</p>
      <section className={styles.part}>
        <h3>{words.changes}</h3>
        <ChangesOfVersions {...{ projectId, environmentId }} from={newest} to={version} />
      </section>
      <Skipped {...{ projectId, environmentId, version, newest }} />
      <ImpactPanel projectId={projectId} environment={environment} changes={changes} />
      <TextField
        label={environment.commentRequired ? review.noteWithMark : review.note}
        hint={review.noteHint}
        value={note}
        onChange={(text) => setNote(noteOf(text))}
        isRequired={environment.commentRequired}
        isDisabled={isBusy}
        error={isChecked && fault?.kind === 'missing' ? review.noteRequired : undefined}
      />
      <Outcome state={state} />
    </Dialog>
  )
}

interface SkippedProps {
  readonly projectId: string
  readonly environmentId: string
  readonly version: number
  readonly newest: number
}

function Skipped({ version, newest, ...place }: SkippedProps) {
  const { pair } = useVersionPair({ ...place, from: newest, to: version })
  const skipped = useMemo(
    () => pair && skippedByRestore({ before: pair.after, after: pair.before }),
    [pair],
  )
  if (skipped === undefined) return null
  return (
    <section className={styles.part}>
      <h3>{words.skipped}</h3>
      {skipped.length === 0 && <p>{words.skippedNone}</p>}
      <ul className={styles.skipped}>
        {skipped.map(({ resource, key, reason }) => (
          <li key={`${resource} ${key}`}>
            <bdi>{messages.history.changes[resource](key)}</bdi> {words.reasons[reason]}
          </li>
        ))}
      </ul>
    </section>
  )
}

function Outcome({ state }: { readonly state: RestoreState }) {
  const isShown = state.phase === 'refused' || state.phase === 'unknown'
  return (
    <div role="alert">
      {state.phase === 'restoring' && <p className={styles.muted}>{words.restoring}</p>}
      {isShown && (
        <div className={styles.refusal}>
          <p>{state.phase === 'refused' ? words.refused : words.unknown}</p>
          <p>{state.error.message}</p>
        </div>
      )}
    </div>
  )
}
