import type {
  Environment,
  Flag,
  FlagState,
  FlagStateChanges,
  Project,
} from '@ff/protocol/management'
import { completed } from '../changes/change-event.ts'
import type { Reader, RecordWriter } from '../changes/record-writer.ts'
import { defineUseCases } from '../changes/use-case.ts'
import { assertDistinct, invalid } from '../requests/validation.ts'
import { loadVariations } from './variations.ts'

/** The use cases of flag states. */
export const flagStateUseCases = defineUseCases({
  /** Returns the state of a flag in an environment. */
  getFlagState: async ({ state }) => state,

  /**
   * Changes the state of a flag in one environment: on or off, defaults, targets, prerequisites.
   */
  async updateFlagState({ writer, body, expectedRevision, ...path }) {
    await assertVariations(writer.reader, path.flag, body)
    assertTargets(body)
    await assertPrerequisites(writer.reader, path, body)
    const { state: before } = path
    const after = await writer.update('flagState', before, body, expectedRevision)
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

async function assertVariations(
  reader: Reader,
  flag: Flag,
  { defaultVariationId, offVariationId, targets = [] }: FlagStateChanges,
): Promise<void> {
  const references = [
    { field: 'default_variation_id', id: defaultVariationId },
    { field: 'off_variation_id', id: offVariationId },
    ...targets.map(({ variationId: id }, index) => ({
      field: `targets.${index}.variation_id`,
      id,
    })),
  ].filter(({ id }) => typeof id === 'string')
  if (references.length === 0) return
  const known = new Set<unknown>((await loadVariations(reader, flag.id)).map(({ id }) => id))
  for (const { field, id } of references) {
    if (!known.has(id)) throw invalid(field, 'must be the id of a variation of this flag')
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

async function assertPrerequisites(
  reader: Reader,
  { project, flag }: { readonly project: Project; readonly flag: Flag },
  { prerequisites = [] }: FlagStateChanges,
): Promise<void> {
  const flagIds = prerequisites.map(({ flagId }) => flagId)
  assertDistinct(flagIds, (index) => `prerequisites.${index}.flag_id`)
  for (const [index, { flagId, variationIds }] of prerequisites.entries()) {
    const field = `prerequisites.${index}`
    assertDistinct(variationIds, (at) => `${field}.variation_ids.${at}`)
    const other = await reader.find('flag', flagId)
    if (other?.projectId !== project.id || other.archivedAt !== null) {
      throw invalid(`${field}.flag_id`, 'must be the id of an unarchived flag of this project')
    }
    if (other.id === flag.id) throw invalid(`${field}.flag_id`, 'must be another flag')
    const known = new Set((await loadVariations(reader, flagId)).map(({ id }) => id))
    const unknown = variationIds.findIndex((id) => !known.has(id))
    if (unknown >= 0) {
      throw invalid(`${field}.variation_ids.${unknown}`, 'must be a variation of the prerequisite')
    }
  }
}
