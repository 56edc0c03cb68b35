import type { FlagSetDefinition } from '@ff/core'
import { type KeyChanges, mergeChanges } from '@ff/core/changes'
import { expect } from 'vitest'
import type { DefinitionChanges } from '../ports/publications.ts'
import type { StorageSession } from '../ports/storage.ts'

/**
 * Asserts that the changes after each version of an environment turn the flag set at that version
 * into the current flag set. The order of listed keys is ignored.
 */
export async function expectMergeable(
  session: StorageSession,
  environmentId: string,
): Promise<void> {
  const present = await session.loadFlagSet(environmentId)
  if (present === undefined) return
  for (let version = 0; version <= present.version; version += 1) {
    const past = await session.loadFlagSet(environmentId, version)
    const changes = await session.loadChanges(environmentId, version)
    if (past === undefined) throw new Error(`Version ${version} cannot be loaded.`)
    expect(sortedKeys(mergeChanges(past, changes))).toEqual(sortedKeys(present))
  }
}

function sortedKeys(definition: FlagSetDefinition): FlagSetDefinition {
  const segments = definition.segments.map((segment) => ({
    ...segment,
    included: [...segment.included].sort(),
    excluded: [...segment.excluded].sort(),
  }))
  return { ...definition, segments }
}

/** Returns the changes with sorted keys, because the order of changed keys is not specified. */
export function withSortedKeys(changes: DefinitionChanges): DefinitionChanges {
  const segments = changes.segments.map((segment) => ({
    ...segment,
    included: sortedChanges(segment.included),
    excluded: sortedChanges(segment.excluded),
  }))
  return { ...changes, segments }
}

function sortedChanges({ added, removed }: KeyChanges): KeyChanges {
  return { added: [...added].sort(), removed: [...removed].sort() }
}
