import { useEffect, useState } from 'react'
import { ApiError } from '../../../api/api-error.ts'
import { toConfigurationInput } from '../../../draft/configuration.ts'
import type { FlagDraft } from '../../../draft/flag-draft.ts'
import { type FieldIssue, validateConfiguration } from '../../../draft/validate.ts'
import { useConfiguration } from '../../../queries/use-queries.ts'
import { useApi, useMay } from '../../../session/use-session.ts'
import type { FlagDraftHandle } from '../../../user-drafts/flag-draft-handle.ts'

const DELAY_MS = 600
const NONE: readonly FieldIssue[] = []

interface Checked {
  readonly draft: FlagDraft
  readonly issues: readonly FieldIssue[]
}

/**
 * Returns the faults of a draft: those that can be found in the page at once; if there are none,
 * those that the server finds in a dry run, some time after the last change. While the draft is
 * sent, there is no dry run, because it could arrive after the publish that makes it old.
 */
export function useDraftIssues(handle: FlagDraftHandle, isSending: boolean): readonly FieldIssue[] {
  const { draft } = handle
  const found = validateConfiguration(draft.current, draft.base)
  const isReady = found.length === 0 && !isIncomplete(draft) && !isSending
  const fromServer = useDryRun(handle, isReady)
  return found.length > 0 ? found : fromServer
}

/** Returns `true` while a condition is still being entered. */
function isIncomplete({ current }: FlagDraft): boolean {
  const conditions = current.targetingRules.flatMap((rule) => rule.conditions)
  return conditions.some(({ attribute, operator, value }) => {
    const isBlank = attribute === '' && !/^(not_)?in_segment$/.test(operator)
    return isBlank || (value === '' && /^[gl]te?$|between|semver|cidr|before|after/.test(operator))
  })
}

function useDryRun({ flag, environment, draft, isChanged }: FlagDraftHandle, isReady: boolean) {
  const api = useApi()
  const { allowed } = useMay('flags.write')
  const [checked, setChecked] = useState<Checked>()
  const [flagId, projectId, environmentId] = [flag.id, flag.projectId, environment.id]
  const place = { projectId, environmentId, flagId }
  const newest = useConfiguration(place).data?.etag
  // A draft of an older version is merged first. Until then, the server refuses it whatever it contains.
  const isCurrent = newest === undefined || newest === draft.etag
  const isNeeded = isReady && isChanged && allowed && isCurrent
  useEffect(() => {
    if (!isNeeded) return
    const controller = new AbortController()
    const check = async () => {
      const body = { ...toConfigurationInput(draft.current, draft.base), dryRun: true }
      const params = { projectId, environmentId, flagId }
      const { signal } = controller
      try {
        await api.call('updateFlagConfiguration', { params, body, ifMatch: draft.etag, signal })
        setChecked({ draft, issues: NONE })
      } catch (error) {
        if (!signal.aborted) setChecked({ draft, issues: issuesOf(error) })
      }
    }
    const timer = setTimeout(check, DELAY_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [api, draft, isNeeded, flagId, projectId, environmentId])
  // The faults of an earlier draft stay until the next answer, so that they do not flicker.
  return isNeeded ? (checked?.issues ?? NONE) : NONE
}

/** Returns the faults in a refusal. A newer version, or a missing comment, is not a fault of a field. */
function issuesOf(error: unknown): readonly FieldIssue[] {
  if (!(error instanceof ApiError) || error.status !== 400 || error.code === 'COMMENT_REQUIRED') {
    return NONE
  }
  return error.issues.length > 0 ? error.issues : [{ path: '', message: error.message }]
}
