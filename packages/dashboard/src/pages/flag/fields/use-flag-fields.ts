import type { FlagView } from '@ff/protocol/management'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, type FieldIssue } from '../../../api/api-error.ts'
import {
  type FlagFieldsAction,
  type FlagFieldsDraft,
  flagRequests,
  startFlagFieldsDraft,
} from '../../../draft/flag-edits.ts'
import { type OverwrittenFields, overwrittenFields } from '../../../draft/overwritten-fields.ts'
import { validateFlag } from '../../../draft/validate.ts'
import { queryKeys } from '../../../queries/query-keys.ts'
import { useApi } from '../../../session/use-session.ts'
import { continuedFields } from '../../../user-drafts/flag-fields-store.ts'
import { useRecordDraft } from '../../../user-drafts/use-record-draft.ts'
import { useUserDrafts } from '../../../user-drafts/use-user-drafts.ts'
import { type SaveStep, saveSteps } from './save-steps.ts'

/** What a save did before it failed. */
export interface SaveFailure {
  readonly saved: readonly string[]
  readonly failed: string
  readonly error: unknown
  readonly notSaved: readonly string[]
  /** The faults of fields, of the flag (`name`) or of a variation (`key.value`). */
  readonly issues: readonly FieldIssue[]
}

/** The draft of the fields of a flag, with the functions that change and save it. */
export interface FlagFieldsHandle {
  readonly draft: FlagFieldsDraft
  readonly dispatch: (action: FlagFieldsAction) => void
  readonly steps: readonly SaveStep[]
  readonly save: () => Promise<void>
  /** Ends the draft. */
  readonly discard: () => void
  readonly isSaving: boolean
  readonly failure: SaveFailure | undefined
  /** The faults of the fields of the flag that can be found in the page. */
  readonly issues: readonly FieldIssue[]
  /** The newer values of the flag that a save replaces. */
  readonly overwritten: OverwrittenFields
}

/** Returns the draft of the fields that a flag has in all environments. */
export function useFlagFields(flag: FlagView, etag: string | undefined): FlagFieldsHandle {
  const { fields: store } = useUserDrafts()
  const api = useApi()
  const queryClient = useQueryClient()
  const [failure, setFailure] = useState<SaveFailure>()
  const [isSaving, setSaving] = useState(false)
  const draft = useRecordDraft(store, flag, startFlagFieldsDraft)
  const requests = flagRequests(draft)
  const steps = saveSteps({ api, flag, etag, requests })
  const issues = requests.update === null ? [] : validateFlag(requests.update)
  const save = async () => {
    setSaving(true)
    const result = await runSteps(steps)
    try {
      const params = { projectId: flag.projectId, flagId: flag.id }
      const fresh = await api.call('getFlag', { params })
      queryClient.setQueryData(queryKeys.flag(flag.projectId, flag.id), fresh)
      const now = store.draftOf(flag.id) ?? draft
      // What was typed during the save is not saved.
      const isComplete = result === undefined && now === draft
      store.replace(fresh.data, isComplete ? undefined : continuedFields(now, fresh.data))
      void queryClient.invalidateQueries({ queryKey: queryKeys.project(flag.projectId) })
      setFailure(result)
    } catch (error) {
      setFailure(result ?? { ...NOTHING, saved: steps.map(({ words }) => words), error })
    } finally {
      setSaving(false)
    }
  }
  const dispatch = (action: FlagFieldsAction) => store.dispatch(flag.id, action)
  const discard = () => {
    store.discard(flag.id)
    setFailure(undefined)
  }
  const overwritten = overwrittenFields(draft, flag)
  return { draft, dispatch, steps, save, discard, isSaving, failure, issues, overwritten }
}

const NOTHING = { failed: '', notSaved: [], issues: [] } as const

/** Runs requests one after another up to the first failure. `undefined` if there is none. */
async function runSteps(steps: readonly SaveStep[]): Promise<SaveFailure | undefined> {
  for (const [index, step] of steps.entries()) {
    try {
      await step.run()
    } catch (error) {
      const words = steps.map((each) => each.words)
      return {
        saved: words.slice(0, index),
        failed: step.words,
        error,
        notSaved: words.slice(index + 1),
        issues: issuesOf(error, step.variationKey),
      }
    }
  }
  return undefined
}

function issuesOf(error: unknown, key: string | undefined): readonly FieldIssue[] {
  const issues = error instanceof ApiError ? error.issues : []
  if (key === undefined) return issues
  return issues.map(({ path, message }) => ({ path: `${key}.${path}`, message }))
}
