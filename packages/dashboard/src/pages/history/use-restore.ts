import type { Environment, Restoration } from '@ff/protocol/management'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { randomId } from '../../api/random-id.ts'
import { publishFailure } from '../../publishing/publish-failure.ts'
import { queryKeys } from '../../queries/query-keys.ts'
import { useApi } from '../../session/use-session.ts'

/** The progress of a restore. */
export type RestoreState =
  | { readonly phase: 'asking' | 'restoring' }
  | { readonly phase: 'refused' | 'unknown'; readonly error: ApiError }
  | { readonly phase: 'restored'; readonly restoration: Restoration }

/** A restore, and the function that sends it. */
export interface Restoring {
  readonly state: RestoreState
  readonly restore: (note: string) => Promise<void>
}

/** Restores a version once, also if the request is repeated. */
export function useRestore(
  { id: environmentId, projectId }: Environment,
  version: number,
): Restoring {
  const api = useApi()
  const queryClient = useQueryClient()
  const [state, setState] = useState<RestoreState>({ phase: 'asking' })
  const [idempotencyKey] = useState(randomId)
  const isBusy = useRef(false)
  const restore = async (note: string) => {
    if (isBusy.current) return
    isBusy.current = true
    setState({ phase: 'restoring' })
    try {
      const params = { projectId, environmentId, version }
      const input = { params, idempotencyKey, comment: note.trim() }
      const { data: restoration } = await api.call('restoreVersion', input)
      setState({ phase: 'restored', restoration })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const isUnknown = publishFailure(error).kind === 'unknown'
      setState({ phase: isUnknown ? 'unknown' : 'refused', error })
    } finally {
      isBusy.current = false
      void queryClient.invalidateQueries({ queryKey: queryKeys.project(projectId) })
    }
  }
  return { state, restore }
}
