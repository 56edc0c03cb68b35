import type { ConfigurationUpdate, StaleConfiguration } from '@ff/protocol/management'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { Result } from '../api/api.ts'
import { ApiError } from '../api/api-error.ts'
import { randomId } from '../api/random-id.ts'
import { toConfigurationInput } from '../draft/configuration.ts'
import { type FlagDraft, startFlagDraft } from '../draft/flag-draft.ts'
import { queryKeys } from '../queries/query-keys.ts'
import { useApi } from '../session/use-session.ts'
import type { FlagDraftHandle } from '../user-drafts/flag-draft-handle.ts'
import { publishFailure } from './publish-failure.ts'
import {
  IDLE,
  type PublishAction,
  type PublishState,
  publishReducer,
  type Review,
} from './publish-state.ts'
import { useLatest } from './use-latest.ts'

/** A draft that was published. */
export interface Published {
  readonly review: Review
  readonly update: ConfigurationUpdate
  readonly etag: string
}

/** What happens outside of the review after a publish. */
export interface PublishListener {
  onPublished(published: Published): void
  onConflict(current: StaleConfiguration): void
}

/** The review of a draft and its publishing. */
export interface Publisher {
  readonly state: PublishState
  /** Begins a review of the draft, unless one is open. */
  review(): void
  setNote(note: string): void
  /** Continues an open review with a draft that starts from a newer configuration. */
  rebase(draft: FlagDraft): void
  /** Sends the draft once; after a lost answer, again with the same key. */
  publish(): Promise<void>
  close(): void
}

/** Publishes the draft of a handle. */
export function usePublish(handle: FlagDraftHandle, listener: PublishListener): Publisher {
  const latest = useLatest({ handle, listener })
  const [state, step] = usePublishState()
  const send = useSend()
  return {
    state,
    review: () => {
      const { draft } = latest.current.handle
      step({ type: 'review', key: randomId(), draft })
    },
    setNote: (note) => void step({ type: 'note', note }),
    rebase: (draft) => void step({ type: 'rebase', key: randomId(), draft }),
    close: () => void step({ type: 'close' }),
    publish: async () => {
      const next = step({ type: 'publish' })
      if (next?.phase !== 'publishing') return
      const { review } = next
      try {
        const { data: update, etag = '' } = await send(latest.current.handle, review)
        const { version } = update
        step({ type: 'succeed', publication: { version, publishedAt: Date.now() } })
        const base = update.configuration
        latest.current.handle.replace(startFlagDraft({ base, etag, version }))
        latest.current.listener.onPublished({ review, update, etag })
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        const failure = publishFailure(error)
        if (failure.kind === 'unknown') step({ type: 'lose', error })
        else if (failure.kind === 'refused') step({ type: 'refuse', error })
        else {
          step({ type: 'conflict' })
          latest.current.listener.onConflict(failure.current)
        }
      }
    },
  }
}

/**
 * Returns the state, and a function that makes a step. It returns the new state, or `undefined` if
 * the step was not possible; unlike a state of React, this is known before the next rendering.
 */
function usePublishState() {
  const [state, setState] = useState<PublishState>(IDLE)
  const current = useRef(state)
  const step = (action: PublishAction): PublishState | undefined => {
    const next = publishReducer(current.current, action)
    if (next === current.current) return undefined
    current.current = next
    setState(next)
    return next
  }
  return [state, step] as const
}

/** Returns a function that sends a review, and keeps what the server has answered. */
function useSend() {
  const api = useApi()
  const queryClient = useQueryClient()
  return async ({ flag, environment }: FlagDraftHandle, { draft, key, note }: Review) => {
    const { projectId, id: flagId } = flag
    const place = { projectId, environmentId: environment.id, flagId }
    const configurationKey = queryKeys.configuration(projectId, environment.id, flagId)
    try {
      const result = await api.call('updateFlagConfiguration', {
        params: place,
        body: toConfigurationInput(draft.current, draft.base),
        ifMatch: draft.etag,
        idempotencyKey: key,
        comment: note.trim(),
      })
      const { data, etag } = result
      const stored: Result<unknown> = { data: data.configuration, etag }
      await queryClient.cancelQueries({ queryKey: configurationKey })
      queryClient.setQueryData(configurationKey, stored)
      return result
    } finally {
      // A repeated request returns its first answer, and a refusal can mean a newer version.
      for (const queryKey of [
        configurationKey,
        queryKeys.versions(projectId, environment.id),
        queryKeys.flagSummaries(projectId),
      ])
        void queryClient.invalidateQueries({ queryKey })
    }
  }
}
