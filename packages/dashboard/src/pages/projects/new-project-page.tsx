import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { randomId } from '../../api/random-id.ts'
import { Button } from '../../components/button.tsx'
import { Page } from '../../components/page.tsx'
import { ErrorState } from '../../components/states.tsx'
import { TextField } from '../../components/text-field.tsx'
import { messages } from '../../messages/messages.ts'
import { keyOfName } from '../../naming/key-of-name.ts'
import { queryKeys } from '../../queries/query-keys.ts'
import { useApi, useMay, useSessionState } from '../../session/use-session.ts'
import styles from './projects.module.css'

/** The form of a new project. */
export function NewProjectPage() {
  const form = useNewProject()
  const may = useMay('projects.write')
  const shell = messages.shell
  const errors = messages.errors
  const faultOf = (path: string) => form.error?.issues.find((issue) => issue.path === path)?.message
  const isOther = form.error !== undefined && form.error.issues.length === 0
  return (
    <Page title={shell.newProject}>
      <form className={styles.form} onSubmit={form.submit}>
        <TextField
          label={shell.projectName}
          value={form.name}
          onChange={form.setName}
          error={faultOf('name')}
          isRequired
        />
        <TextField
          label={shell.projectKey}
          hint={shell.projectKeyHint}
          value={form.key}
          onChange={form.setKey}
          error={faultOf('key')}
          isMonospace
          isRequired
        />
        {isOther && <ErrorState title={errors.notSaved} error={form.error} />}
        <div>
          <Button
            type="submit"
            variant="primary"
            isPending={form.isPending}
            disabledReason={may.reason}
          >
            {shell.createProject}
          </Button>
        </div>
      </form>
    </Page>
  )
}

function useNewProject() {
  const api = useApi()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const orgId = useSessionState().organizationId ?? ''
  const [name, setName] = useState('')
  const [ownKey, setKey] = useState<string>()
  const [idempotencyKey] = useState(randomId)
  const [error, setError] = useState<ApiError>()
  const [isPending, setPending] = useState(false)
  const key = ownKey ?? keyOfName(name)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isPending) return
    setPending(true)
    try {
      const input = { params: { orgId }, body: { key, name }, idempotencyKey }
      const { data } = await api.call('createProject', input)
      await queryClient.invalidateQueries({ queryKey: queryKeys.projects(orgId) })
      await navigate({ to: '/p/$project/flags', params: { project: data.id } })
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught
      setError(caught)
    } finally {
      setPending(false)
    }
  }
  return { name, setName, key, setKey, error, isPending, submit }
}
