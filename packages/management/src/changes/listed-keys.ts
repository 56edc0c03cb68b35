import { FlagError } from '@ff/core'
import type { Environment, Segment } from '@ff/protocol/management'
import type { DefinitionChange, SegmentKeysChange, StorageSession } from '@ff/storage'

/** The keys that a change adds to and removes from one of a segment's two lists. */
export type ListedKeysChange = Omit<SegmentKeysChange, 'segmentId'>

const LISTS = ['included', 'excluded'] as const

/**
 * Returns the number of keys in the list after a change, as a field of the segment; `undefined` if
 * the change has no effect. The lists are stored in the publication logs only, and are equal in all
 * environments of the project, so only one environment is read. Throws `CONFLICT` if the project
 * has no environment.
 */
export async function countListedKeys(
  session: StorageSession,
  { id, projectId }: Segment,
  { list, added, removed }: ListedKeysChange,
): Promise<Partial<Segment> | undefined> {
  const environments = await session.list('environment', { where: { projectId }, limit: 1 })
  const environment = environments.data[0]
  if (environment === undefined) {
    throw new FlagError('CONFLICT', 'Listed keys require an environment in the project.')
  }
  const flagSet = await session.loadFlagSet(environment.id)
  const before = flagSet?.segments.find((segment) => segment.id === id)?.[list] ?? []
  // The list can be long, so sets are built from the short change only.
  const missing = new Set(added)
  const leaving = new Set(removed)
  let left = 0
  for (const key of before) {
    missing.delete(key)
    if (leaving.has(key)) left += 1
  }
  if (missing.size + left === 0) return undefined
  const count = before.length + missing.size - left
  return list === 'included' ? { includedCount: count } : { excludedCount: count }
}

/**
 * Returns the changes that add the listed keys of all segments to a new environment; none if the
 * project has no other environment.
 */
export async function loadListedKeysElsewhere(
  session: StorageSession,
  { id, projectId }: Environment,
): Promise<readonly DefinitionChange[]> {
  const environments = await session.list('environment', { where: { projectId } })
  const other = environments.data.find((environment) => environment.id !== id)
  const flagSet = other && (await session.loadFlagSet(other.id))
  return (flagSet?.segments ?? []).flatMap((segment) =>
    LISTS.filter((list) => segment[list].length > 0).map((list) => {
      const added = segment[list]
      return { kind: 'segmentKeys', segmentId: segment.id, list, added, removed: [] } as const
    }),
  )
}
