import type { StaleConfiguration } from '@ff/protocol/management'
import { useEffect, useMemo, useState } from 'react'
import type { Configuration } from '../draft/configuration.ts'
import type { FlagDraft } from '../draft/flag-draft.ts'
import { renamedDraft } from '../draft/renamed-draft.ts'
import { useProjectEvents } from '../live/use-project-events.ts'
import { useConfiguration } from '../queries/use-queries.ts'
import { useSessionState } from '../session/use-session.ts'
import type { FlagDraftHandle } from '../user-drafts/flag-draft-handle.ts'
import { useLatest } from './use-latest.ts'

/** Who published a version. */
export interface VersionAuthor {
  readonly version: number
  /** `null` if it is not known. */
  readonly name: string | null
  /** `true` if it was the user of this page. */
  readonly isOwn: boolean
}

/** A published configuration that is newer than the base of a draft. */
export interface NewerConfiguration {
  readonly configuration: Configuration
  readonly etag: string
  /** `undefined` if no event has named the version. */
  readonly author: VersionAuthor | undefined
}

/** A newer configuration, and a function that notes who published it. */
export interface NewerState {
  readonly newer: NewerConfiguration | undefined
  readonly noteConflict: (current: StaleConfiguration) => void
}

/** The connection of `useNewerConfiguration` to the page. */
export interface NewerOptions {
  /** `true`, for example during a publish of this page, reports nothing. */
  readonly isPaused: boolean
  /** Receives the draft on the basis of a newer configuration with other names, or none. */
  readonly onRebase: (draft: FlagDraft) => void
}

/**
 * Returns the published configuration if it is newer than the base of a draft with changes. A
 * newer revision that differs at most in names is no version: it becomes the base of the draft
 * without a question.
 */
export function useNewerConfiguration(
  handle: FlagDraftHandle,
  { isPaused, onRebase }: NewerOptions,
): NewerState {
  const { flag, environment, draft, isChanged } = handle
  const place = { projectId: flag.projectId, environmentId: environment.id, flagId: flag.id }
  const { data } = useConfiguration(place)
  const [author, setAuthor] = useLastAuthor(handle)
  const etag = data?.etag
  const isNewer = isChanged && !isPaused && etag !== undefined && etag !== draft.etag
  const configuration = isNewer ? data?.data : undefined
  const renamed = useMemo(() => {
    if (configuration === undefined || etag === undefined) return undefined
    return renamedDraft(draft, { base: configuration, etag })
  }, [draft, configuration, etag])
  const rebase = useLatest(onRebase)
  useEffect(() => {
    if (renamed !== undefined) rebase.current(renamed)
  }, [renamed, rebase])
  const isKnown = author !== undefined && author.version !== draft.version
  return {
    newer:
      configuration === undefined || etag === undefined || renamed !== undefined
        ? undefined
        : { configuration, etag, author: isKnown ? author : undefined },
    noteConflict: ({ version, changedBy }) =>
      setAuthor((last) => {
        return last?.version === version ? last : { version, name: changedBy, isOwn: false }
      }),
  }
}

/** Returns who last published a version that changed the flag, since the page is shown. */
function useLastAuthor({ flag, environment }: FlagDraftHandle) {
  const [last, setLast] = useState<VersionAuthor>()
  const userId = useSessionState().logIn?.user.id
  useProjectEvents((event) => {
    if (event.event !== 'version' || event.data.environmentId !== environment.id) return
    const { flags, version, actor } = event.data
    if (!flags.includes(flag.id)) return
    setLast({ version, name: actor.name, isOwn: actor.id === userId })
  })
  return [last, setLast] as const
}
