import type { Environment, FlagView } from '@ff/protocol/management'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { Api } from '../../../api/api.ts'
import { ApiError, type FieldIssue } from '../../../api/api-error.ts'
import { randomId } from '../../../api/random-id.ts'
import { showToast } from '../../../components/toast.tsx'
import { isSame } from '../../../draft/configuration.ts'
import { restoredHistory } from '../../../draft/history.ts'
import { messages } from '../../../messages/messages.ts'
import { queryKeys } from '../../../queries/query-keys.ts'
import { useApi } from '../../../session/use-session.ts'
import { useUserDrafts } from '../../../user-drafts/use-user-drafts.ts'
import { emptyForm, type FlagForm, formIssues, toBody } from './flag-form.ts'

/** A flag that was created, although not all of its states were set. */
export interface PartlyDone {
  readonly flag: FlagView
  readonly done: readonly Environment[]
  readonly failed: readonly FailedState[]
}

/** An environment in which a new flag is still on, and why. */
export interface FailedState {
  readonly environment: Environment
  readonly error: ApiError
}

/** Returns whether a form wants the flag to be on; in production, it is off by default. */
export function isOnIn({ toggled }: FlagForm, { id, isProduction }: Environment): boolean {
  return isProduction === toggled.includes(id)
}

/** Returns the form of a new flag and its submission. */
export function useNewFlag(projectId: string, environments: readonly Environment[]) {
  const { newFlags } = useUserDrafts()
  const [start] = useState(emptyForm)
  const [form, setForm] = useState<FlagForm>(() => newFlags.load({ projectId })?.current ?? start)
  const isChanged = !isSame(form, start)
  const [issues, setIssues] = useState<readonly FieldIssue[]>([])
  const [error, setError] = useState<ApiError>()
  const isCommentRequired = environments.some(({ commentRequired }) => commentRequired)
  const creation = useCreation(projectId)
  const isDone = creation.partly !== undefined || creation.isCreated
  useEffect(() => {
    if (isDone) newFlags.remove({ projectId })
    else newFlags.save({ projectId }, restoredHistory<FlagForm>(start, form))
  }, [newFlags, projectId, start, form, isDone])
  const submit = async () => {
    const found = formIssues(form, isCommentRequired)
    setIssues(found)
    setError(undefined)
    if (found.length > 0) return
    try {
      const off = environments.filter((environment) => !isOnIn(form, environment))
      await creation.create(form, off)
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught
      setIssues(issuesOf(caught))
      setError(caught)
    }
  }
  const change = (changes: Partial<FlagForm>) => setForm((before) => ({ ...before, ...changes }))
  const discard = () => {
    setForm(start)
    setIssues([])
    setError(undefined)
  }
  const own = { form, setForm, change, discard, isChanged, issues, error }
  return { ...own, isCommentRequired, submit, ...creation }
}

/** Returns the faults that the server found, with those that belong to a field. */
function issuesOf(error: ApiError): readonly FieldIssue[] {
  if (error.status === 409 && error.issues.length === 0) {
    return [{ path: 'key', message: messages.newFlag.keyTaken }]
  }
  return error.issues
}

function useCreation(projectId: string) {
  const api = useApi()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const idempotencyKey = useRef(randomId())
  const [isPending, setPending] = useState(false)
  const [partly, setPartly] = useState<PartlyDone>()
  const [isCreated, setCreated] = useState(false)
  const open = (flag: FlagView) => {
    showToast(messages.newFlag.created(flag.name))
    const params = { project: projectId, flag: flag.id }
    void navigate({ to: '/p/$project/flags/$flag', params })
  }
  const finish = async (flag: FlagView, off: readonly Environment[]) => {
    setCreated(true)
    const failed = await switchOff(api, flag, off)
    await queryClient.invalidateQueries({ queryKey: queryKeys.flagSummaries(projectId) })
    const done = off.filter(({ id }) => !failed.some(({ environment }) => environment.id === id))
    if (failed.length === 0) open(flag)
    else setPartly((before) => ({ flag, failed, done: [...(before?.done ?? []), ...done] }))
  }
  const pending = async (work: () => Promise<void>) => {
    setPending(true)
    try {
      await work()
    } finally {
      setPending(false)
    }
  }
  const create = (form: FlagForm, off: readonly Environment[]) =>
    pending(async () => {
      const options = { idempotencyKey: idempotencyKey.current, comment: form.comment.trim() }
      const flag = await createFlag(api, { projectId, form, ...options }).catch((caught) => {
        // A request without a response may have been done: its repetition must have the same key.
        if (caught instanceof ApiError && caught.status !== 0) idempotencyKey.current = randomId()
        throw caught
      })
      await finish(flag, off)
    })
  const tryAgain = ({ flag, failed }: PartlyDone) =>
    pending(() =>
      finish(
        flag,
        failed.map(({ environment }) => environment),
      ),
    )
  return { isPending, isCreated, partly, create, tryAgain, open }
}

interface Creation {
  readonly projectId: string
  readonly form: FlagForm
  readonly comment: string
  readonly idempotencyKey: string
}

async function createFlag(api: Api, { projectId, form, ...options }: Creation): Promise<FlagView> {
  const { data } = await api.call('createFlag', {
    params: { projectId },
    body: toBody(form),
    ...options,
  })
  return data
}

/** Switches a new flag off in environments. Returns those in which this failed. */
export async function switchOff(
  api: Api,
  { id: flagId, projectId }: Pick<FlagView, 'id' | 'projectId'>,
  environments: readonly Environment[],
): Promise<readonly FailedState[]> {
  const failed: FailedState[] = []
  for (const environment of environments) {
    const params = { projectId, environmentId: environment.id, flagId }
    try {
      await api.call('updateFlagState', { params, body: { isActive: false } })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      failed.push({ environment, error })
    }
  }
  return failed
}
