import type { Preview, PreviewChange } from '@ff/protocol/management'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { queryKeys } from '../../queries/query-keys.ts'
import { useApi } from '../../session/use-session.ts'
import type { PreviewDraft } from './preview-draft.ts'

/** What a preview says about one flag. */
export type FlagImpact = Preview['flags'][number]
/** Contexts that get another variation, for one reason. */
export type Move = FlagImpact['moves'][number]
/** A context that a preview names as an example. */
export type Example = Move['examples'][number]

/** A preview of the last draft that was not edited for a moment. */
export interface PreviewState {
  /** The last result, also while the next one is loaded. */
  readonly preview: Preview | undefined
  /** The reason why the last request failed. */
  readonly error: ApiError | undefined
  /** `true` if `preview` does not belong to the current draft. */
  readonly isStale: boolean
  /** `true` while the server asks to wait. */
  readonly isWaiting: boolean
}

const PAUSE_MS = 400
/** The observed contexts that previews evaluate: those of the last 24 hours. */
export const WINDOW_HOURS = 24
const MOST_EXAMPLES = 20
const RETRY_MS = 5000
const KEPT_MS = 30_000
const MOST_RETRIES = 8

/**
 * Previews a draft, 400 ms after its last change. An earlier request is cancelled. Components with
 * the same draft share one request.
 */
export function usePreview({ projectId, environmentId, changes }: PreviewDraft): PreviewState {
  const api = useApi()
  const text = changes === undefined ? undefined : JSON.stringify(changes)
  const settled = useSettled(text)
  const base = [...queryKeys.evaluation(projectId, environmentId), 'preview', subjectOf(changes)]
  const { data, error, isFetching, isPlaceholderData, failureReason } = useQuery<Preview>({
    queryKey: [...base, settled],
    enabled: settled !== undefined,
    // The last result of another flag or environment is not shown.
    placeholderData: (last, query) => (isPrefix(base, query?.queryKey) ? last : undefined),
    gcTime: KEPT_MS,
    meta: { isOptional: true },
    refetchInterval: ({ state }) => (isUnavailable(state.error) ? RETRY_MS : false),
    retry: canRetry,
    queryFn: async ({ signal }) => {
      const draft = JSON.parse(settled ?? '[]') as readonly PreviewChange[]
      const body = { changes: [...draft], windowHours: WINDOW_HOURS, examples: MOST_EXAMPLES }
      const input = { params: { projectId, environmentId }, body, signal }
      return (await api.call('previewChanges', input)).data
    },
  })
  const hasDraft = text !== undefined
  return {
    preview: hasDraft ? data : undefined,
    error: hasDraft && error instanceof ApiError ? error : undefined,
    isStale: hasDraft && (text !== settled || isFetching || isPlaceholderData),
    isWaiting: isFetching && failureReason instanceof ApiError && failureReason.status === 429,
  }
}

/** Returns what a draft is about: the flag, segment or version of its first change. */
function subjectOf(changes: readonly PreviewChange[] | undefined): string {
  const [first] = changes ?? []
  if (first === undefined) return ''
  if (first.kind === 'segment') return first.segmentId
  if (first.kind === 'restore') return String(first.version)
  return first.kind === 'scheduled_change' ? first.changeId : first.flagId
}

function isPrefix(prefix: readonly string[], key: readonly unknown[] | undefined): boolean {
  return key !== undefined && prefix.every((part, index) => part === key[index])
}

function isUnavailable(error: Error | null): boolean {
  return error instanceof ApiError && error.isUnavailable
}

function canRetry(failures: number, error: Error): boolean {
  return error instanceof ApiError && error.status === 429 && failures < MOST_RETRIES
}

/** Returns a text after it was unchanged for a moment; `undefined` at once. */
function useSettled(text: string | undefined): string | undefined {
  const [settled, setSettled] = useState<string>()
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), text === undefined ? 0 : PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return text === undefined ? undefined : settled
}
