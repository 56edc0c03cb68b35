import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useId, useMemo, useState } from 'react'
import { randomId } from '../../api/random-id.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ErrorState } from '../../components/states.tsx'
import { TextField } from '../../components/text-field.tsx'
import { messages } from '../../messages/messages.ts'
import { keyOfName } from '../../naming/key-of-name.ts'
import { queryKeys } from '../../queries/query-keys.ts'
import { useAction } from '../../queries/use-action.ts'
import { useApi } from '../../session/use-session.ts'
import { NoteField } from './note-field.tsx'
import styles from './segments.module.css'

const { segments: texts, components, errors } = messages

/** The properties of `NewSegmentDialog`. */
export interface NewSegmentDialogProps {
  readonly projectId: string
  readonly onClose: () => void
}

/** The dialog that creates a segment and opens its page. */
export function NewSegmentDialog({ projectId, onClose }: NewSegmentDialogProps) {
  const formId = useId()
  const form = useNewSegment(projectId)
  const { error, faultOf, isPending } = form.action
  return (
    <Dialog
      title={texts.create}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{components.cancel}</Button>
          <Button type="submit" form={formId} variant="primary" isPending={isPending}>
            {texts.createSegment}
          </Button>
        </>
      }
    >
      <form id={formId} className={styles.form} onSubmit={form.submit}>
        <TextField
          label={texts.name}
          value={form.name}
          onChange={form.setName}
          error={faultOf('name')}
          autoFocus
          isRequired
        />
        <TextField
          label={texts.key}
          hint={texts.keyHint}
          value={form.key}
          onChange={form.setKey}
          error={faultOf('key')}
          isMonospace
          isRequired
        />
        <NoteField projectId={projectId} value={form.note} onChange={form.setNote} />
        {error !== undefined && error.issues.length === 0 && (
          <ErrorState title={errors.notSaved} error={error} />
        )}
      </form>
    </Dialog>
  )
}

function useNewSegment(projectId: string) {
  const api = useApi()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const action = useAction()
  const [name, setName] = useState('')
  const [ownKey, setKey] = useState<string>()
  const [note, setNote] = useState('')
  const key = ownKey ?? keyOfName(name)
  const body = useMemo(() => ({ key, name }), [key, name])
  // Another input is another request.
  const idempotencyKey = useMemo(() => body && randomId(), [body])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    return action.run(async () => {
      const input = { params: { projectId }, body, idempotencyKey, comment: note }
      const { data } = await api.call('createSegment', input)
      await queryClient.invalidateQueries({ queryKey: queryKeys.segments(projectId) })
      await navigate({
        to: '/p/$project/segments/$segment',
        params: { project: projectId, segment: data.id },
      })
    })
  }
  return { name, setName, key, setKey, note, setNote, submit, action }
}
