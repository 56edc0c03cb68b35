import type {
  Environment,
  Flag,
  FlagState,
  FlagStateChanges,
  Project,
} from '@ff/protocol/management'
import { findByIdOrKey } from '../access/id-or-key.ts'
import { completed } from '../changes/change-event.ts'
import type { Reader, RecordWriter } from '../changes/record-writer.ts'
import { defineUseCases } from '../changes/use-case.ts'
import { assertDistinct, invalid } from '../requests/validation.ts'
import { archivedFault } from './conditions.ts'
import { loadVariations, variationIdOf } from './variations.ts'
import { assertTrimmedTargets } from './white-space.ts'

/** The use cases of flag states. */
export const flagStateUseCases = defineUseCases({
  /** Returns the state of a flag in an environment. */
  getFlagState: async ({ state }) => state,

  /**
   * Changes the state of a flag in one environment: on or off, defaults, targets, prerequisites.
   */
  async updateFlagState({ writer, body, expectedRevision, ...path }) {
    const { state: before } = path
    const changes = await checkedState(writer.reader, path, { changes: body, stored: before })
    const after = await writer.update('flagState', before, changes, expectedRevision)
    return completed('flag_state.updated', { before, after }, { field: 'prerequisites' })
  },
})

interface NewFlagState {
  readonly flag: Flag
  readonly environment: Environment
  readonly offVariationId: string | null
}

/** Inserts the state of a flag that is new in an environment: active, without targets. */
export function insertFlagState(
  writer: RecordWriter,
  { flag, environment, offVariationId }: NewFlagState,
): Promise<FlagState> {
  return writer.insert('flagState', {
    flagId: flag.id,
    environmentId: environment.id,
    projectId: flag.projectId,
    isActive: true,
    defaultVariationId: null,
    offVariationId,
    targets: [],
    prerequisites: [],
  })
}

interface StateChange {
  readonly changes: FlagStateChanges
  /** The state before the change. */
  readonly stored: FlagState
}

/**
 * Returns the changes of a flag state, in which ids replace keys. Throws `INVALID_REQUEST` if a
 * reference is not valid, if a list contains an entry twice, or if a new key is not trimmed.
 */
export async function checkedState(
  reader: Reader,
  path: { readonly project: Project; readonly flag: Flag },
  { changes, stored }: StateChange,
): Promise<FlagStateChanges> {
  const resolved = await resolveVariations(reader, path.flag, changes)
  assertTargets(changes)
  assertTrimmedTargets(changes.targets ?? [], stored.targets)
  return { ...resolved, prerequisites: await resolvePrerequisites(reader, path, changes) }
}

/** Returns the changes, in which the ids of variations replace their keys. */
async function resolveVariations(
  reader: Reader,
  flag: Flag,
  changes: FlagStateChanges,
): Promise<FlagStateChanges> {
  const { defaultVariationId, offVariationId, targets } = changes
  const isNamed = [defaultVariationId, offVariationId].some((text) => typeof text === 'string')
  if (!isNamed && !targets?.length) return changes
  const variations = await loadVariations(reader, flag.id)
  const resolve = (text: string | null | undefined, field: string) =>
    typeof text === 'string' ? variationIdOf(variations, text, field) : text
  return {
    ...changes,
    defaultVariationId: resolve(defaultVariationId, 'default_variation_id'),
    offVariationId: resolve(offVariationId, 'off_variation_id'),
    targets: targets?.map((target, index) => {
      const field = `targets.${index}.variation_id`
      return { ...target, variationId: variationIdOf(variations, target.variationId, field) }
    }),
  }
}

/**
 * Throws `INVALID_REQUEST` if a key is listed more than once for a context kind, because the order
 * of the targets would then matter.
 */
function assertTargets({ targets = [] }: FlagStateChanges): void {
  const listed = new Map<string, Set<string>>()
  for (const [index, { kind, keys }] of targets.entries()) {
    const known = listed.get(kind) ?? new Set()
    listed.set(kind, known)
    for (const key of keys) {
      if (known.has(key)) throw invalid(`targets.${index}.keys`, 'contains a key listed before')
      known.add(key)
    }
  }
}

/** Returns the prerequisites, in which ids replace the keys of flags and variations. */
async function resolvePrerequisites(
  reader: Reader,
  { project, flag }: { readonly project: Project; readonly flag: Flag },
  { prerequisites }: FlagStateChanges,
): Promise<FlagStateChanges['prerequisites']> {
  if (prerequisites === undefined) return undefined
  const resolved: FlagState['prerequisites'] = []
  for (const [index, { flagId: text, variationIds: texts }] of prerequisites.entries()) {
    const field = `prerequisites.${index}`
    const parent = { projectId: project.id }
    const other = await findByIdOrKey(reader, 'flag', { text, parent })
    if (other === undefined) {
      throw invalid(`${field}.flag_id`, 'must be the id or the key of a flag of this project')
    }
    if (other.archivedAt !== null) throw invalid(`${field}.flag_id`, archivedFault(other))
    if (other.id === flag.id) throw invalid(`${field}.flag_id`, 'must be another flag')
    const variations = await loadVariations(reader, other.id)
    const variationIds = texts.map((each, at) => {
      return variationIdOf(variations, each, `${field}.variation_ids.${at}`, 'the prerequisite')
    })
    assertDistinct(variationIds, (at) => `${field}.variation_ids.${at}`)
    resolved.push({ flagId: other.id, variationIds })
  }
  const flagIds = resolved.map(({ flagId }) => flagId)
  assertDistinct(flagIds, (index) => `prerequisites.${index}.flag_id`)
  return resolved
}
