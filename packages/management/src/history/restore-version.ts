import {
  type FlagDefinition,
  FlagError,
  type FlagSetDefinition,
  type SegmentDefinition,
} from '@ff/core'
import type { Environment, Restoration } from '@ff/protocol/management'
import { completed } from '../changes/change-event.ts'
import type { Reader } from '../changes/record-writer.ts'
import { defineUseCases } from '../changes/use-case.ts'
import { type FlagRestoration, findLostReferences, isSame, restoreFlag } from './restore-flag.ts'
import { loadVersion } from './versions.ts'

type Skipped = Restoration['skipped'][number]

/** The use cases of restoring a version. */
export const restoreUseCases = defineUseCases({
  /**
   * Restores the flags of an environment to a version. Data that belongs to the whole project is
   * not changed; differences in this data are returned as `skipped`. Throws `CONFLICT` and changes
   * nothing if a restored flag would refer to a resource that was deleted or archived.
   */
  async restoreVersion({ writer, environment, params }) {
    const past = await loadVersion(writer.reader, environment.id, params.version)
    const present = (await writer.reader.loadFlagSet(environment.id)) ?? past
    const restorations = restorationsOf(environment, past, present)
    await assertReferences(writer.reader, restorations)
    const skipped = await findSkipped(writer.reader, past, present)
    for (const restoration of restorations) await restoreFlag(writer, restoration)
    const flags = restorations.map(({ past: { id, key } }) => ({ id, key }))
    const before = { version: present.version, flags }
    const after = { version: past.version, flags }
    const result = { restoredVersion: past.version, flags, skipped }
    const completion = { id: environment.id, result, field: 'version' }
    return completed('environment.restored', { before, after }, completion)
  },
})

/** Returns the restorations of the flags that are in both flag sets and differ. */
function restorationsOf(
  environment: Environment,
  past: FlagSetDefinition,
  present: FlagSetDefinition,
): readonly FlagRestoration[] {
  const known = new Map(present.flags.map((flag) => [flag.id, flag]))
  return past.flags.flatMap((flag) => {
    const now = known.get(flag.id)
    if (now === undefined || isSame(ownPart(flag), ownPart(now))) return []
    return { environment, past: flag, present: now }
  })
}

/** Returns the part of a flag's definition that belongs to the environment. */
function ownPart({ variations: _, clientVisible: __, ...own }: FlagDefinition) {
  return own
}

async function assertReferences(
  reader: Reader,
  restorations: readonly FlagRestoration[],
): Promise<void> {
  const issues: { path: string; message: string }[] = []
  for (const { environment, past } of restorations) {
    for (const message of await findLostReferences(reader, environment, past)) {
      issues.push({ path: past.key, message })
    }
  }
  if (issues.length === 0) return
  const lost = issues.map(({ path, message }) => `Flag "${path}": ${message}`).join(' ')
  const message = `The version refers to deleted or archived resources. ${lost}`
  throw new FlagError('CONFLICT', message, { details: { issues } })
}

/** Returns the flags and segments that differ in the part that belongs to the project. */
async function findSkipped(
  reader: Reader,
  past: FlagSetDefinition,
  present: FlagSetDefinition,
): Promise<Skipped[]> {
  const skipped: Skipped[] = []
  for (const resource of ['flag', 'segment'] as const) {
    const before = definitionsOf(past, resource)
    const now = definitionsOf(present, resource)
    for (const [id, definition] of before) {
      const known = now.get(id)
      if (known && isSame(projectPart(definition), projectPart(known))) continue
      const isArchived = known === undefined && (await reader.find(resource, id)) !== undefined
      const absence = isArchived ? 'archived' : 'deleted'
      skipped.push({ resource, id, key: definition.key, reason: known ? 'changed' : absence })
    }
    for (const [id, { key }] of now) {
      if (!before.has(id)) skipped.push({ resource, id, key, reason: 'absent_then' })
    }
  }
  return skipped
}

/** Returns the definitions of one kind by id. */
function definitionsOf(
  { flags, segments }: FlagSetDefinition,
  resource: Skipped['resource'],
): ReadonlyMap<string, FlagDefinition | SegmentDefinition> {
  const definitions = resource === 'flag' ? flags : segments
  return new Map(definitions.map((each) => [each.id, each]))
}

function projectPart(definition: FlagDefinition | SegmentDefinition): object {
  if (!('variations' in definition)) return definition
  const { variations, clientVisible = true } = definition
  return { variations, clientVisible }
}
