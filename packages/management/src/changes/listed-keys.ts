import { FlagError } from '@ff/core'
import type { Environment, Segment } from '@ff/protocol/management'
import type { DefinitionChange, SegmentKeysChange, StorageSession } from '@ff/storage'

/** Who joins and who leaves one of a segment's two lists. */
export type ListedKeysChange = Omit<SegmentKeysChange, 'segmentId'>

const LISTS = ['included', 'excluded'] as const

/**
 * How many keys the list will hold after a change; `undefined` when the change changes nothing.
 * The lists live in the publication logs alone, the same in every environment of the project, so
 * that one of them tells.
 */
export async function countListedKeys(
  session: StorageSession,
  { id, projectId }: Segment,
  { list, added, removed }: ListedKeysChange,
): Promise<Partial<Segment> | undefined> {
  const environments = await session.list('environment', { where: { projectId }, limit: 1 })
  const environment = environments.data[0]
  if (environment === undefined) {
    throw new FlagError('CONFLICT', 'The project has no environment to list keys in.')
  }
  const flagSet = await session.loadFlagSet(environment.id)
  const before = flagSet?.segments.find((segment) => segment.id === id)?.[list] ?? []
  // The list may be long, and what changes in it is not.
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

/** For a new environment: all that the segments of its project list in the others. */
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
