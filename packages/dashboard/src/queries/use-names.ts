import type { FlagView } from '@ff/protocol/management'
import { useQueries } from '@tanstack/react-query'
import type { Configuration } from '../draft/configuration.ts'
import type { Names } from '../draft/sentence.ts'
import { useApi } from '../session/use-session.ts'
import { queryKeys } from './query-keys.ts'
import { useSegments } from './use-queries.ts'

type NamedFlag = Pick<FlagView, 'id' | 'key' | 'name' | 'projectId' | 'variations'>

/**
 * Returns the names of everything that configurations of a flag refer to: its variations, segments,
 * and the flags of its prerequisites with their variations. What is not loaded has its id as name.
 */
export function useNames(flag: NamedFlag, configurations: readonly Configuration[]): Names {
  const { projectId } = flag
  const segments = useSegmentNames(projectId, segmentIdsIn(configurations))
  const flagIds = [
    ...new Set(
      configurations.flatMap(({ state }) => state.prerequisites.map(({ flagId }) => flagId)),
    ),
  ]
  const others = useFlags(projectId, flagIds)
  const flags = new Map([flag, ...others].map((each) => [each.id, each]))
  return {
    variation: (id, flagId = flag.id) => {
      const found = flags.get(flagId)?.variations.find((variation) => variation.id === id)
      return found?.key ?? id
    },
    segment: (id) => segments.get(id) ?? id,
    flag: (id) => flags.get(id)?.key ?? id,
  }
}

function segmentIdsIn(configurations: readonly Configuration[]): readonly string[] {
  const rules = configurations.flatMap(({ targetingRules }) => targetingRules)
  return [...new Set(rules.flatMap(({ segmentId }) => segmentId ?? []))]
}

/** Loads the first page of the segments, and those of `ids` that it does not contain. */
function useSegmentNames(projectId: string, ids: readonly string[]): ReadonlyMap<string, string> {
  const api = useApi()
  const { data: page } = useSegments(projectId)
  const listed = page?.data ?? []
  const missing = page === undefined ? [] : ids.filter((id) => !listed.some((one) => one.id === id))
  const others = useQueries({
    queries: missing.map((segmentId) => ({
      queryKey: queryKeys.segment(projectId, segmentId),
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        api.call('getSegment', { params: { projectId, segmentId }, signal }),
    })),
  })
  const loaded = others.flatMap(({ data }) => data?.data ?? [])
  return new Map([...listed, ...loaded].map(({ id, name }) => [id, name]))
}

function useFlags(projectId: string, ids: readonly string[]): readonly FlagView[] {
  const api = useApi()
  const results = useQueries({
    queries: ids.map((flagId) => ({
      queryKey: queryKeys.flag(projectId, flagId),
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        api.call('getFlag', { params: { projectId, flagId }, signal }),
    })),
  })
  return results.flatMap(({ data }) => data?.data ?? [])
}
