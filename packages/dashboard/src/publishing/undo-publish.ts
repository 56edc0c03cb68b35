import type { QueryClient } from '@tanstack/react-query'
import type { Api } from '../api/api.ts'
import { ApiError } from '../api/api-error.ts'
import { randomId } from '../api/random-id.ts'
import { showToast, type Undo } from '../components/toast.tsx'
import { type Configuration, toConfigurationInput } from '../draft/configuration.ts'
import { startFlagDraft } from '../draft/flag-draft.ts'
import { messages } from '../messages/messages.ts'
import { queryKeys } from '../queries/query-keys.ts'
import type { FlagDraftHandle } from '../user-drafts/flag-draft-handle.ts'
import { publishFailure } from './publish-failure.ts'

const { published: words } = messages.publishing

/** A publish that can be undone. */
export interface Undoable {
  readonly api: Api
  readonly queryClient: QueryClient
  /** Returns the handle of the flag; it stays valid after its page was left. */
  readonly handle: () => FlagDraftHandle
  /** The configuration before the publish. */
  readonly previous: Configuration
  readonly version: number
  /** The `ETag` of the published configuration. */
  readonly etag: string
}

/** Shows that a version was published, with a button that undoes it. */
export function offerUndo(undoable: Undoable): void {
  const { flag, environment } = undoable.handle()
  const text = words.toast(flag.name, environment.name, undoable.version)
  showToast(text, undoOf(undoable, randomId()))
}

function undoOf(undoable: Undoable, key: string): Undo {
  const { flag, environment } = undoable.handle()
  return { subject: [flag.id, environment.id], run: () => void undo(undoable, key) }
}

/**
 * Publishes the previous configuration again. If a newer version exists, a draft with the previous
 * configuration is opened instead.
 */
async function undo(undoable: Undoable, key: string): Promise<void> {
  const { api, queryClient, previous, version, etag } = undoable
  const { flag, environment } = undoable.handle()
  const { projectId, id: flagId } = flag
  const place = { projectId, environmentId: environment.id, flagId }
  const configuration = queryKeys.configuration(projectId, environment.id, flagId)
  try {
    const { data } = await api.call('updateFlagConfiguration', {
      params: place,
      body: toConfigurationInput(previous, previous),
      ifMatch: etag,
      idempotencyKey: key,
      comment: words.undoComment(version),
    })
    showToast(words.undone(data.version))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { kind } = publishFailure(error)
    if (kind === 'conflict') await openAsDraft(undoable)
    else if (kind === 'refused') showToast(words.undoFailed(error.message))
    else showToast(words.undoUnknown, undoOf(undoable, key))
  } finally {
    void queryClient.invalidateQueries({ queryKey: configuration })
    void queryClient.invalidateQueries({ queryKey: queryKeys.versions(projectId, environment.id) })
  }
}

/** Opens a draft with the previous configuration, unless there is another draft. */
async function openAsDraft({ api, handle, previous }: Undoable): Promise<void> {
  const { flag, environment } = handle()
  const params = { projectId: flag.projectId, environmentId: environment.id, flagId: flag.id }
  try {
    const { data: base, etag = '' } = await api.call('getFlagConfiguration', { params })
    if (handle().isChanged) {
      showToast(words.undoRefusedDraft)
      return
    }
    const current = { ...previous, revision: base.revision }
    handle().replace({ ...startFlagDraft({ base, etag, version: null }), current })
    showToast(words.undoAsDraft)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    showToast(words.undoFailed(error.message))
  }
}
