import type { FlagView, Segment } from '@ff/protocol/management'
import { useQueries } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { findById } from '../../../draft/configuration.ts'
import type { Names } from '../../../draft/sentence.ts'
import { configurationWarnings } from '../../../draft/warnings.ts'
import { queryKeys } from '../../../queries/query-keys.ts'
import { useAllSegments } from '../../../queries/use-all-segments.ts'
import { useApi, useMay } from '../../../session/use-session.ts'
import type { FlagDraftHandle } from '../../../user-drafts/flag-draft-handle.ts'
import type { Editing } from './editing.ts'
import { useDraftIssues } from './use-draft-issues.ts'

/** Attributes that every context can have. */
const COMMON_ATTRIBUTES = ['user.key', 'kind']
const NO_SEGMENTS: readonly Segment[] = []

/** Returns what the parts of the editor need for a draft. `isSending` pauses its check. */
export function useEditingOf(handle: FlagDraftHandle, isSending: boolean): Editing {
  const { flag, draft } = handle
  const [now] = useState(Date.now)
  const segments = useAllSegments(flag.projectId).data ?? NO_SEGMENTS
  const others = usePrerequisiteFlags(handle)
  const issues = useDraftIssues(handle, isSending)
  const may = useMay('flags.write')
  const fixed = useMemo(
    () => ({
      segments: segments.map(({ id, key, name }) => ({ id, name: name || key })),
      names: namesOf(flag, segments, others),
      attributes: attributesOf(handle, segments),
      warnings: configurationWarnings(draft.base, draft.current, { now }),
    }),
    [flag, segments, others, handle, draft, now],
  )
  return { ...fixed, handle, issues, refusal: may.reason, now }
}

/** Loads the flags that are prerequisites, for the names of their variations. */
function usePrerequisiteFlags({ flag, draft }: FlagDraftHandle): readonly FlagView[] {
  const api = useApi()
  const { projectId } = flag
  const { base, current } = draft
  const all = [...base.state.prerequisites, ...current.state.prerequisites]
  const ids = [...new Set(all.map(({ flagId }) => flagId))]
  return useQueries({
    queries: ids.map((flagId) => ({
      queryKey: queryKeys.flag(projectId, flagId),
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        api.call('getFlag', { params: { projectId, flagId }, signal }),
    })),
    combine: loadedFlags,
  })
}

function loadedFlags(
  results: readonly { readonly data?: { readonly data: FlagView } | undefined }[],
) {
  return results.flatMap(({ data }) => (data === undefined ? [] : [data.data]))
}

function namesOf(flag: FlagView, segments: readonly Segment[], others: readonly FlagView[]): Names {
  return {
    variation: (id, flagId) => {
      const owner = flagId === undefined ? flag : findById(others, flagId)
      return findById(owner?.variations ?? [], id)?.key ?? id
    },
    segment: (id) => findById(segments, id)?.name ?? id,
    flag: (id) => findById([flag, ...others], id)?.key ?? id,
  }
}

/** Returns the attributes that the conditions of the flag and of the segments read. */
function attributesOf({ draft }: FlagDraftHandle, segments: readonly Segment[]) {
  const { base, current } = draft
  const rules = [...base.targetingRules, ...current.targetingRules].map((rule) => rule.conditions)
  const conditions = [...rules, ...segments.map((segment) => segment.rules)].flat()
  const read = conditions
    .filter(({ operator }) => !/^(not_)?in_segment$|^flag_is/.test(operator))
    .map(({ attribute }) => attribute)
  // The attribute that is being typed is not a suggestion.
  const published = new Set(
    base.targetingRules.flatMap((rule) => rule.conditions).map((c) => c.attribute),
  )
  const isKnown = (name: string) =>
    published.has(name) || read.filter((each) => each === name).length > 1
  const fromSegments = segments.flatMap((segment) => segment.rules.map((rule) => rule.attribute))
  const names = [...COMMON_ATTRIBUTES, ...fromSegments, ...read.filter(isKnown)]
  return [...new Set(names)].filter((name) => name !== '')
}
