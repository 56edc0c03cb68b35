import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../components/button.tsx'
import { ConfirmDialog, Dialog } from '../components/dialog.tsx'
import { EnvironmentDot } from '../components/environment-dot.tsx'
import { SentenceText } from '../components/text/sentence-text.tsx'
import { TextField } from '../components/text-field.tsx'
import { showToast } from '../components/toast.tsx'
import { messages } from '../messages/messages.ts'
import { useConfiguration, useFlag } from '../queries/use-queries.ts'
import { useApi } from '../session/use-session.ts'
import styles from './flag-switch.module.css'
import type { FlagSwitchQuestion } from './flag-switch-context.ts'
import { SwitchChanges } from './switch-changes.tsx'
import { SwitchDelivery } from './switch-delivery.tsx'
import { effectSentence } from './switch-effect.ts'
import { SwitchImpact } from './switch-impact.tsx'
import {
  type DoneSwitch,
  type SwitchChange,
  undoSwitch,
  useSwitchChange,
} from './use-switch-change.ts'

const flagSwitch = messages.flagSwitch

/** The properties of `FlagSwitchDialog`. */
export interface FlagSwitchDialogProps {
  readonly question: FlagSwitchQuestion
  readonly onClose: () => void
}

/** The question whether a flag is to be switched, with its effect beside it. */
export function FlagSwitchDialog({ question, onClose }: FlagSwitchDialogProps) {
  const { flag, environment, isActive } = question
  const announce = useAnnouncement()
  const change = useSwitchChange(question, (done) => {
    announce(done)
    onClose()
  })
  const comment = useComment(question)
  const title = isActive ? flagSwitch.titleOff(flag.name) : flagSwitch.titleOn(flag.name)
  if (change.isActive === !isActive && !change.isPending) {
    const close = <Button onPress={onClose}>{messages.components.close}</Button>
    return (
      <Dialog isOpen title={title} onClose={onClose} actions={close}>
        <p>{isActive ? flagSwitch.alreadyOff : flagSwitch.alreadyOn}</p>
      </Dialog>
    )
  }
  return (
    <ConfirmDialog
      isOpen
      title={title}
      onClose={onClose}
      confirm={isActive ? flagSwitch.switchOff : flagSwitch.switchOn}
      onConfirm={() => comment.check() && void change.confirm(comment.text)}
      isDangerous={environment.isProduction && isActive}
      isPending={change.isPending}
      focus={isActive ? 'confirm' : 'cancel'}
    >
      <Facts question={question} change={change} />
      {comment.isNeeded && (
        <TextField
          label={flagSwitch.comment}
          hint={flagSwitch.commentHint}
          value={comment.text}
          onChange={comment.setText}
          error={comment.error}
          maxLength={1000}
          isRequired
        />
      )}
      <Failure change={change} isActive={isActive} />
    </ConfirmDialog>
  )
}

interface FactsProps {
  readonly question: FlagSwitchQuestion
  readonly change: SwitchChange
}

function Facts({ question, change }: FactsProps) {
  const { flag, environment, isActive } = question
  const { projectId, id: environmentId } = environment
  const loaded = useFlag(projectId, flag.id).data?.data
  const published = useConfiguration({ projectId, environmentId, flagId: flag.id })
  const configuration = published.data?.data
  const isLoaded = loaded !== undefined && configuration !== undefined
  return (
    <>
      {environment.isProduction && <p className={styles.production}>{flagSwitch.production}</p>}
      <dl className={styles.facts}>
        <dt>{flagSwitch.flag}</dt>
        <dd>
          <bdi className={styles.key}>{flag.key}</bdi>
        </dd>
        <dt>{flagSwitch.place}</dt>
        <dd>
          <EnvironmentDot name={environment.name} isProduction={environment.isProduction} />
        </dd>
        <dt>{flagSwitch.effect}</dt>
        <dd>
          {isLoaded ? (
            <SentenceText sentence={effectSentence(loaded, configuration, !isActive)} />
          ) : (
            <span className={styles.muted}>{flagSwitch.loadingEffect}</span>
          )}
        </dd>
      </dl>
      {isLoaded && (
        <SwitchChanges
          flag={loaded}
          configuration={configuration}
          isLoading={published.isFetching}
          isProduction={environment.isProduction}
          isRefused={change.isStale}
        />
      )}
      <SwitchImpact question={question} configuration={configuration} />
    </>
  )
}

interface FailureProps {
  readonly change: SwitchChange
  readonly isActive: boolean
}

function Failure({ change: { error }, isActive }: FailureProps) {
  if (error === undefined) return null
  const notDone = isActive ? flagSwitch.failedOff : flagSwitch.failedOn
  return (
    <div role="alert" className={styles.failure}>
      <p>{`${notDone} ${error.message}`}</p>
      {error.requestId !== undefined && (
        <p className={styles.muted}>{messages.errors.requestId(error.requestId)}</p>
      )}
    </div>
  )
}

/** The comment of a change. Switching off never needs one. */
function useComment({ environment, isActive }: FlagSwitchQuestion) {
  const isNeeded = environment.commentRequired && !isActive
  const [text, setText] = useState('')
  const [error, setError] = useState<string>()
  const check = () => {
    const isMissing = isNeeded && text.trim() === ''
    setError(isMissing ? flagSwitch.commentMissing : undefined)
    return !isMissing
  }
  return { isNeeded, text, setText, error, check }
}

/** Returns a function that shows the message after a change, with "Undo" and the delivery. */
function useAnnouncement() {
  const api = useApi()
  const queryClient = useQueryClient()
  return (done: DoneSwitch) => {
    const { flag, environment, isActive } = done.question
    const words = isActive ? flagSwitch.doneOff : flagSwitch.doneOn
    const undo = async () => showToast(await undoSwitch({ api, queryClient }, done))
    showToast(
      <>
        {words(flag.name, environment.name)} <SwitchDelivery environment={environment} />
      </>,
      { subject: [flag.id, environment.id], run: () => void undo() },
    )
  }
}
