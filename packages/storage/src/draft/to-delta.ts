import type { FlagSetDefinition, SegmentDefinition } from '@ff/core'
import type { ChangedSegment, DefinitionDelta, KeyChanges } from '@ff/core/changes'
import type { DefinitionChange, PublishedSegment } from '../ports/publications.ts'

type Listed = 'included' | 'excluded'

/** The last change of each of the changed keys of a list: `true` if it adds the key. */
type LastChanges = Map<string, boolean>

/**
 * Returns the difference that changes make to a flag set, which keeps its version. If several
 * changes concern one definition, the last of them applies. Changes of listed keys apply in order.
 */
export function toDelta(
  { version, clientVersion, segments }: FlagSetDefinition,
  changes: readonly DefinitionChange[],
): DefinitionDelta {
  const flags = new Map<string, DefinitionDelta['flags'][number]>()
  const definitions = new Map<string, PublishedSegment | null>()
  const lists = { included: new Map<string, LastChanges>(), excluded: new Map() }
  for (const change of changes) {
    if (change.kind === 'flag') {
      flags.set(change.id, { id: change.id, definition: change.definition })
    } else if (change.kind === 'segment') definitions.set(change.id, change.definition)
    else noteKeys(lists[change.list], change.segmentId, change)
  }
  const present = new Map(segments.map((segment) => [segment.id, segment]))
  const touched = new Set([
    ...definitions.keys(),
    ...lists.included.keys(),
    ...lists.excluded.keys(),
  ])
  const changed = [...touched].flatMap((id): ChangedSegment[] => {
    const given = definitions.get(id)
    const definition = given === undefined ? propertiesOf(present.get(id)) : given
    if (definition === undefined) return []
    const keysOf = (list: Listed) => keyChangesOf(lists[list].get(id))
    return [{ id, definition, included: keysOf('included'), excluded: keysOf('excluded') }]
  })
  const numbers = { version, ...(clientVersion !== undefined && { clientVersion }) }
  return { ...numbers, flags: [...flags.values()], segments: changed }
}

function noteKeys(
  list: Map<string, LastChanges>,
  segmentId: string,
  { added, removed }: KeyChanges,
): void {
  const last = list.get(segmentId) ?? new Map()
  list.set(segmentId, last)
  for (const key of removed) last.set(key, false)
  for (const key of added) last.set(key, true)
}

function keyChangesOf(last: LastChanges = new Map()): KeyChanges {
  const keysThat = (isAdded: boolean) =>
    [...last].filter(([, added]) => added === isAdded).map(([key]) => key)
  return { added: keysThat(true), removed: keysThat(false) }
}

function propertiesOf(segment: SegmentDefinition | undefined): PublishedSegment | undefined {
  if (segment === undefined) return undefined
  const { included: _, excluded: __, ...properties } = segment
  return properties
}
