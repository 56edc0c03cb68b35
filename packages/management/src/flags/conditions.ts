import type { ConditionDefinition, Issue } from '@ff/core'
import { authoringFault } from '@ff/core/authoring'
import type { Condition, Flag } from '@ff/protocol/management'
import { extensions } from '@ff/server/plane'
import { invalidRequest } from '../api/validation.ts'
import type { Reader } from '../changes/record-writer.ts'

const SEGMENT_OPERATORS = new Set(['in_segment', 'not_in_segment'])
const FLAG_OPERATORS = new Set(['flag_is', 'flag_is_not'])

/** The segments that a condition asks about. */
export function segmentIdsOf({ operator, value }: ConditionDefinition): readonly string[] {
  return SEGMENT_OPERATORS.has(operator) ? textsOf(value) : []
}

/** The flag that a condition asks about, and the variations of it that it names. */
export function flagQuestionOf({ attribute, operator, value }: ConditionDefinition) {
  if (!FLAG_OPERATORS.has(operator)) return undefined
  return { flagKey: attribute, variationKeys: textsOf(value) }
}

/**
 * Throws `INVALID_REQUEST`, naming each faulty condition below the wire field `field`, unless all
 * can be read as intended and every segment, flag and variation they name lives in the project.
 */
export async function assertConditions(
  reader: Reader,
  projectId: string,
  conditions: readonly Condition[],
  field: string,
): Promise<void> {
  const issues: Issue[] = []
  for (const [index, condition] of conditions.entries()) {
    const message =
      authoringFault(condition, extensions) ??
      (await findReferenceFault(reader, projectId, condition))
    if (message !== undefined) issues.push({ path: `${field}.${index}`, message })
  }
  if (issues.length > 0) throw invalidRequest(issues)
}

/** What the condition names that does not live in the project, as a sentence. */
export async function findReferenceFault(
  reader: Reader,
  projectId: string,
  condition: Condition,
): Promise<string | undefined> {
  for (const segmentId of segmentIdsOf(condition)) {
    const segment = await reader.find('segment', segmentId)
    if (segment?.projectId !== projectId) return `There is no segment ${segmentId} in the project.`
  }
  const question = flagQuestionOf(condition)
  if (question === undefined) return undefined
  const where = { projectId, key: question.flagKey }
  const flag = (await reader.list('flag', { where, limit: 1 })).data[0]
  if (flag === undefined || flag.archivedAt !== null) {
    return `There is no flag "${question.flagKey}" in the project.`
  }
  return findVariationFault(reader, flag, question.variationKeys)
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

/** The one text, or the texts of a JSON array. */
function textsOf(value: string): readonly string[] {
  if (!value.trimStart().startsWith('[')) return [value]
  try {
    const list: unknown = JSON.parse(value)
    return Array.isArray(list) ? list.map(textOf) : [value]
  } catch {
    return [value]
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
