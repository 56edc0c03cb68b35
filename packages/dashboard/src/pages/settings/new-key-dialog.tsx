import type { Environment, IssuedSdkKey, NewSdkKey } from '@ff/protocol/management'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId, useMemo, useState } from 'react'
import { randomId } from '../../api/random-id.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { DateTimeField } from '../../components/fields/date-time-field.tsx'
import { Select } from '../../components/select.tsx'
import { ErrorState } from '../../components/states.tsx'
import { TextField } from '../../components/text-field.tsx'
import { messages } from '../../messages/messages.ts'
import { queryKeys } from '../../queries/query-keys.ts'
import { useAction } from '../../queries/use-action.ts'
import { useApi } from '../../session/use-session.ts'
import { issuedKeyDialog } from './issued-key-dialog.tsx'
import styles from './settings.module.css'

const { keys: texts, components } = messages
const KINDS = (['server', 'client'] as const).map((id) => ({ id, name: texts.kindChoices[id] }))

/** The properties of `NewKeyDialog`. */
export interface NewKeyDialogProps {
  readonly environment: Environment
  readonly onClose: () => void
}

/** The dialog that creates an SDK key and shows it once. The key is only in the state of the dialog. */
export function NewKeyDialog({ environment, onClose }: NewKeyDialogProps) {
  const form = useNewKey(environment)
  const formId = useId()
  if (form.issued !== undefined) return <Dialog {...issuedKeyDialog(form.issued, onClose)} />
  const { error, faultOf } = form.action
  return (
    <Dialog
      title={texts.createTitle(environment.name)}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{components.cancel}</Button>
          <Button type="submit" form={formId} variant="primary" isPending={form.action.isPending}>
            {texts.createKey}
          </Button>
        </>
      }
    >
      <form id={formId} className={styles.form} onSubmit={form.submit}>
        <TextField
          label={texts.name}
          hint={texts.nameHint}
          value={form.fields.name}
          onChange={(name) => form.set({ name })}
          error={faultOf('name')}
          autoFocus
          isRequired
        />
        <Select
          label={texts.kind}
          options={KINDS}
          value={form.fields.kind}
          onChange={(kind) => form.set({ kind: kind as NewSdkKey['kind'] })}
        />
        <DateTimeField
          label={texts.expiry}
          value={form.fields.expiresAt}
          onChange={(expiresAt) => form.set({ expiresAt })}
          error={faultOf('expiresAt')}
        />
        {error !== undefined && error.issues.length === 0 && (
          <ErrorState title={texts.failed} error={error} />
        )}
      </form>
    </Dialog>
  )
}

const NEW_KEY = { name: '', kind: 'server', expiresAt: '' } as const

interface Fields extends Pick<NewSdkKey, 'name' | 'kind'> {
  /** Empty for a key that does not expire. */
  readonly expiresAt: string
}

function useNewKey({ id: environmentId, projectId, key }: Environment) {
  const api = useApi()
  const queryClient = useQueryClient()
  const action = useAction()
  const [fields, setFields] = useState<Fields>({ ...NEW_KEY, name: texts.defaultName(key) })
  const [issued, setIssued] = useState<IssuedSdkKey>()
  // A repeated request must not create a second key, and another input is another request.
  const idempotencyKey = useMemo(() => fields && randomId(), [fields])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    return action.run(async () => {
      const { expiresAt, ...others } = fields
      const body = { ...others, ...(expiresAt === '' ? {} : { expiresAt }) }
      const params = { projectId, environmentId }
      setIssued((await api.call('createSdkKey', { params, body, idempotencyKey })).data)
      await queryClient.invalidateQueries({
        queryKey: queryKeys.sdkKeys(projectId, environmentId),
      })
    })
  }
  const set = (changes: Partial<Fields>) => setFields({ ...fields, ...changes })
  return { fields, set, submit, issued, action }
}
