import type { StaleConfiguration } from '@ff/protocol/management'
import { useEffect, useState } from 'react'
import { type Configuration, isSame } from '../draft/configuration.ts'
import type { FlagDraftHandle } from '../flag-drafts/flag-draft-handle.ts'
import { useProjectEvents } from '../live/use-project-events.ts'
import { useConfiguration } from '../queries/use-queries.ts'
import { useSessionState } from '../session/use-session.ts'

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

/**
 * Returns the published configuration if it is newer than the base of a draft with changes. While
 * `isPaused`, for example during a publish of this page, there is none. A newer revision with the
 * same contents becomes the base without a question.
 */
export function useNewerConfiguration(handle: FlagDraftHandle, isPaused: boolean): NewerState {
  const { flag, environment, draft, isChanged } = handle
  const place = { projectId: flag.projectId, environmentId: environment.id, flagId: flag.id }
  const { data } = useConfiguration(place)
  const [author, setAuthor] = useLastAuthor(handle)
  const etag = data?.etag
  const isNewer = isChanged && !isPaused && etag !== undefined && etag !== draft.etag
  const configuration = isNewer ? data?.data : undefined
  const isEqual = configuration !== undefined && hasSameContents(configuration, draft.base)
  useEffect(() => {
    if (!isEqual || configuration === undefined || etag === undefined) return
    handle.replace({ ...draft, base: configuration, etag })
  }, [handle, draft, isEqual, configuration, etag])
  const isKnown = author !== undefined && author.version !== draft.version
  return {
    newer:
      configuration === undefined || etag === undefined || isEqual
        ? undefined
        : { configuration, etag, author: isKnown ? author : undefined },
    noteConflict: ({ version, changedBy }) =>
      setAuthor((last) => {
        return last?.version === version ? last : { version, name: changedBy, isOwn: false }
      }),
  }
}

function hasSameContents(one: Configuration, other: Configuration): boolean {
  return isSame({ ...one, revision: 0 }, { ...other, revision: 0 })
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
