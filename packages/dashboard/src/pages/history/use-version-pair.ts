import { useQueries } from '@tanstack/react-query'
import type { Api } from '../../api/api.ts'
import { queryKeys } from '../../queries/query-keys.ts'
import { useApi } from '../../session/use-session.ts'
import type { PublishedVersion, VersionPair } from './version-differences.ts'

/** Two versions of an environment. `from` is 0 for the state before the first version. */
export interface ComparedVersions {
  readonly projectId: string
  readonly environmentId: string
  readonly from: number
  readonly to: number
}

/** The loaded versions. */
export interface LoadedPair {
  readonly pair: VersionPair | undefined
  readonly error: Error | null
  readonly retry: () => void
}

const KEPT_MS = 120_000
const NOTHING: PublishedVersion = { version: 0, flags: [], segments: [] }

/** Loads two versions. A published version never changes, so each is loaded once. */
export function useVersionPair(compared: ComparedVersions): LoadedPair {
  const api = useApi()
  const [before, after] = useQueries({
    queries: [versionQuery(api, compared, compared.from), versionQuery(api, compared, compared.to)],
  })
  const isLoaded = before.data !== undefined && after.data !== undefined
  return {
    pair: isLoaded ? { before: before.data, after: after.data } : undefined,
    error: before.error ?? after.error,
    retry: () => {
      for (const each of [before, after]) if (each.error !== null) void each.refetch()
    },
  }
}

function versionQuery(
  api: Api,
  { projectId, environmentId }: Pick<ComparedVersions, 'projectId' | 'environmentId'>,
  version: number,
) {
  const params = { projectId, environmentId, version }
  return {
    queryKey: [...queryKeys.project(projectId), 'flagSet', environmentId, version],
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: KEPT_MS,
    queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<PublishedVersion> =>
      version === 0 ? NOTHING : (await api.call('getVersion', { params, signal })).data,
  }
}
