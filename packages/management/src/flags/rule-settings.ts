import type { Flag, Project, TargetingRule, TargetingRuleChanges } from '@ff/protocol/management'
import { findByIdOrKey } from '../access/id-or-key.ts'
import type { Reader } from '../changes/record-writer.ts'
import { invalid } from '../requests/validation.ts'

/** Returns the kind of a rule: by default `segment` if the rule has a segment, else `custom`. */
export function kindOf({ kind, segmentId }: TargetingRuleChanges): TargetingRule['kind'] {
  return kind ?? (typeof segmentId === 'string' ? 'segment' : 'custom')
}

/** Returns the conditions and the references of a rule, with the defaults for absent fields. */
export function ruleSettings(given: TargetingRuleChanges) {
  const { conditions = [], segmentId = null, variationId = null, rolloutId = null } = given
  return { conditions, segmentId, variationId, rolloutId }
}

/**
 * Throws `INVALID_REQUEST` if a new or changed rule lacks a field that its kind requires. A field
 * that `given` does not contain has the value of the existing rule `is`.
 */
export function assertRuleFields(given: TargetingRuleChanges, is: TargetingRule | undefined): void {
  const kind = given.kind ?? is?.kind
  const segmentId = given.segmentId === undefined ? is?.segmentId : given.segmentId
  if (kind === 'segment' && typeof segmentId !== 'string') {
    throw invalid('segment_id', 'is required when kind is segment')
  }
  // A rule without conditions matches every context, so an empty list must be explicit.
  const becomesCustom = given.kind === 'custom' && is?.kind !== 'custom'
  const conditions = given.conditions ?? (is?.conditions.length ? is.conditions : undefined)
  if (becomesCustom && conditions === undefined) {
    const hint = 'write [] for a rule that matches every context'
    throw invalid('conditions', `is required when kind is custom; ${hint}`)
  }
}

/**
 * Returns the fields of a rule, in which the ids of the segment and the variation replace their
 * keys. Throws `INVALID_REQUEST` if there is no such segment or variation.
 */
export async function resolveRule<F extends TargetingRuleChanges>(
  reader: Reader,
  { project, flag }: { readonly project: Project; readonly flag: Flag },
  fields: F,
): Promise<F> {
  const { segmentId, variationId } = fields
  const segment =
    typeof segmentId === 'string' &&
    (await findByIdOrKey(reader, 'segment', { text: segmentId, parent: { projectId: project.id } }))
  if (segment === undefined)
    throw invalid('segment_id', 'must be the id or the key of a segment of this project')
  const variation =
    typeof variationId === 'string' &&
    (await findByIdOrKey(reader, 'variation', { text: variationId, parent: { flagId: flag.id } }))
  if (variation === undefined)
    throw invalid('variation_id', 'must be the id or the key of a variation of this flag')
  return {
    ...fields,
    ...(segment && { segmentId: segment.id }),
    ...(variation && { variationId: variation.id }),
  }
}
