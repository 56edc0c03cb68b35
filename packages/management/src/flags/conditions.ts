import { type Issue, jsonEquals } from '@ff/core'
import { authoringFault, flagReferenceOf, segmentIdsOf } from '@ff/core/authoring'
import type { Condition, Flag } from '@ff/protocol/management'
import { extensions, runInTimeSlices } from '@ff/server/plane'
import type { Reader } from '../changes/record-writer.ts'
import { invalidRequest } from '../requests/validation.ts'
import { untrimmedFault } from './white-space.ts'

/** Conditions of one request, with the path of their wire field. */
export interface ConditionList {
  readonly field: string
  readonly conditions: readonly Condition[]
  /** The conditions before the change. White space in these is accepted. */
  readonly stored?: readonly Condition[] | undefined
}

/**
 * Throws `INVALID_REQUEST` if a condition could not be evaluated as intended, or refers to a
 * segment, flag or variation that does not exist in the project. The error has one issue per faulty
 * condition, with a path that begins with the field of its list.
 */
export async function assertConditions(
  reader: Reader,
  projectId: string,
  lists: readonly ConditionList[],
): Promise<void> {
  const issues: Issue[] = []
  for (const { path, condition, fault } of await runInTimeSlices(checked(lists))) {
    const message = fault ?? (await findReferenceFault(reader, projectId, condition))
    if (message !== undefined) issues.push({ path, message })
  }
  if (issues.length > 0) throw invalidRequest(issues)
}

interface CheckedCondition {
  readonly path: string
  readonly condition: Condition
  readonly fault: string | undefined
}

/** Checks conditions without their references. The caller can pause the work at each `yield`. */
function* checked(lists: readonly ConditionList[]): Generator<undefined, CheckedCondition[]> {
  const all: CheckedCondition[] = []
  for (const { field, conditions, stored = [] } of lists) {
    for (const [index, condition] of conditions.entries()) {
      const isStored = stored.some((each) => jsonEquals(each, condition))
      const untrimmed = isStored ? undefined : untrimmedFault(condition)
      const fault = authoringFault(condition, extensions) ?? untrimmed
      all.push({ path: `${field}.${index}`, condition, fault })
      yield
    }
  }
  return all
}

/**
 * Returns a sentence about a reference of the condition that does not exist in the project;
 * `undefined` if all its references exist.
 */
export async function findReferenceFault(
  reader: Reader,
  projectId: string,
  condition: Condition,
): Promise<string | undefined> {
  for (const segmentId of segmentIdsOf(condition)) {
    const segment = await reader.find('segment', segmentId)
    if (segment?.projectId !== projectId) return `There is no segment ${segmentId} in the project.`
  }
  const reference = flagReferenceOf(condition)
  if (reference === undefined) return undefined
  const where = { projectId, key: reference.flagKey }
  const flag = (await reader.list('flag', { where, limit: 1 })).data[0]
  if (flag === undefined) return `There is no flag "${reference.flagKey}" in the project.`
  if (flag.archivedAt !== null) return `The condition ${archivedFault(flag)}`
  return findVariationFault(reader, flag, reference.variationKeys)
}

/** Returns the fault of a reference to an archived flag, without a subject. */
export function archivedFault({ key }: Flag): string {
  return `refers to the flag "${key}", which is archived. Set its field "archived" to false, or use another flag.`
}

async function findVariationFault(
  reader: Reader,
  flag: Flag,
  variationKeys: readonly string[],
): Promise<string | undefined> {
  const variations = await reader.list('variation', { where: { flagId: flag.id } })
  const known = new Set(variations.data.map(({ key }) => key))
  const unknown = variationKeys.find((key) => !known.has(key))
  return unknown === undefined ? undefined : `Flag "${flag.key}" has no variation "${unknown}".`
}
