import type { FlagState } from '@ff/protocol/management'
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { Api, Result } from '../api/api.ts'
import { ApiError } from '../api/api-error.ts'
import { randomId } from '../api/random-id.ts'
import { messages } from '../messages/messages.ts'
import { queryKeys } from '../queries/query-keys.ts'
import { useApi } from '../session/use-session.ts'
import type { FlagSwitchQuestion } from './flag-switch-context.ts'

/** A change that was made: what `undoSwitch` needs. */
export interface DoneSwitch {
  readonly question: FlagSwitchQuestion
  /** The `ETag` of the state after the change. */
  readonly etag: string | undefined
}

/** The change of the state of a flag, for the dialog. */
export interface SwitchChange {
  /** The state at the server; `undefined` until it is loaded. */
  readonly isActive: boolean | undefined
  readonly isPending: boolean
  /** The failure of the last attempt, other than that the flag was changed. */
  readonly error: ApiError | undefined
  /** `true` after an attempt found that the flag was changed. */
  readonly isStale: boolean
  readonly confirm: (comment: string) => Promise<void>
}

/** Returns the change that a question asks for. `onDone` is called after it was made. */
export function useSwitchChange(
  question: FlagSwitchQuestion,
  onDone: (done: DoneSwitch) => void,
): SwitchChange {
  const api = useApi()
  const queryClient = useQueryClient()
  const idempotencyKey = useRef(randomId())
  const [isPending, setPending] = useState(false)
  const [isStale, setStale] = useState(false)
  const [error, setError] = useState<ApiError>()
  const { data } = useQuery({
    queryKey: [...placeKey(question), 'state'],
    queryFn: ({ signal }) => loadState(api, question, signal),
    refetchOnMount: 'always',
  })
  const confirm = async (comment: string) => {
    setPending(true)
    setError(undefined)
    try {
      const { etag } = data ?? (await loadState(api, question))
      const options = { ifMatch: etag, comment, idempotencyKey: idempotencyKey.current }
      const result = await sendSwitch(api, question, { isActive: !question.isActive, ...options })
      void invalidate(queryClient, question)
      onDone({ question, etag: result.etag })
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught
      // A request without a response may have been done: its repetition must have the same key.
      if (caught.status !== 0) idempotencyKey.current = randomId()
      setStale(caught.status === 409)
      if (caught.status === 409) await invalidate(queryClient, question)
      else setError(caught)
    } finally {
      setPending(false)
    }
  }
  return { isActive: data?.data.isActive, isPending, error, isStale, confirm }
}

function loadState(
  api: Api,
  question: FlagSwitchQuestion,
  signal?: AbortSignal,
): Promise<Result<FlagState>> {
  return api.call('getFlagState', { params: paramsOf(question), signal })
}

function paramsOf({ flag, environment }: FlagSwitchQuestion) {
  return { projectId: environment.projectId, environmentId: environment.id, flagId: flag.id }
}

function placeKey({ flag, environment }: FlagSwitchQuestion) {
  return queryKeys.configuration(environment.projectId, environment.id, flag.id)
}

interface SentSwitch {
  readonly isActive: boolean
  readonly ifMatch: string | undefined
  readonly comment: string
  readonly idempotencyKey: string
}

function sendSwitch(
  api: Api,
  question: FlagSwitchQuestion,
  { isActive, ...options }: SentSwitch,
): Promise<Result<FlagState>> {
  const params = paramsOf(question)
  return api.call('updateFlagState', { params, body: { isActive }, ...options })
}

/** Loads again what a switch changes. */
function invalidate(queryClient: QueryClient, question: FlagSwitchQuestion) {
  const { projectId, id } = question.environment
  const keys = [
    placeKey(question),
    queryKeys.flagSummaries(projectId),
    queryKeys.convergence(projectId, id),
    queryKeys.versions(projectId, id),
    queryKeys.evaluation(projectId, id),
  ]
  return Promise.all(keys.map((queryKey) => queryClient.invalidateQueries({ queryKey })))
}

/** What `undoSwitch` changes: the server and the data of the page. */
export interface UndoAccess {
  readonly api: Api
  readonly queryClient: QueryClient
}

/** Restores the state before a switch, unless it was changed again. Returns the result in words. */
export async function undoSwitch(
  { api, queryClient }: UndoAccess,
  { question, etag }: DoneSwitch,
): Promise<string> {
  const { flag, environment, isActive } = question
  const texts = messages.flagSwitch
  const comment = environment.commentRequired && isActive ? texts.undoComment : ''
  const idempotencyKey = randomId()
  try {
    await sendSwitch(api, question, { isActive, ifMatch: etag, comment, idempotencyKey })
    return texts.undoDone(flag.name, environment.name, isActive)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.status === 409) return texts.undoRefused(flag.name, environment.name)
    return texts.undoFailed(error.message)
  } finally {
    void invalidate(queryClient, question)
  }
}
