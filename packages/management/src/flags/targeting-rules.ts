import {
  endpoints,
  type PageOf,
  type Segment,
  type TargetingRule,
  type TargetingRuleChanges,
  type TargetingRuleView,
} from '@ff/protocol/management'
import { loadPermitted } from '../access/access-request.ts'
import {
  type FlagStatePath,
  loadFlagStatePath,
  loadTargetingRulePath,
} from '../access/project-paths.ts'
import { changeEvent } from '../audit/change-event.ts'
import { applyChange } from '../changes/apply-change.ts'
import type { Management } from '../changes/management.ts'
import type { Reader } from '../changes/record-writer.ts'
import type { Input } from '../requests/input.ts'
import { cutPage } from '../requests/pages.ts'
import { invalid } from '../requests/validation.ts'
import { assertConditions } from './conditions.ts'
import { inOrder } from './flag-configuration.ts'
import { reorder } from './reorder.ts'

const MOST_RULES = 500

/** One page of a flag's rules in an environment, in the order in which they are tried. */
export async function listTargetingRules(
  management: Management,
  { params, query }: Input<'listTargetingRules', 'params' | 'query'>,
): Promise<PageOf<TargetingRuleView>> {
  const { permission } = endpoints.listTargetingRules
  const path = await loadPermitted(management, { permission, load: loadFlagStatePath, params })
  const page = cutPage(await loadRules(management.storage, path), query)
  return { ...page, data: await viewRules(management.storage, page.data) }
}

/** One rule, with its segment. */
export async function getTargetingRule(
  management: Management,
  { params }: Input<'getTargetingRule', 'params'>,
): Promise<TargetingRuleView> {
  const { permission } = endpoints.getTargetingRule
  const { rule } = await loadPermitted(management, {
    permission,
    load: loadTargetingRulePath,
    params,
  })
  return viewRule(management.storage, rule)
}

/** One more rule; its `orderIndex` is 0 unless given, and among equals the oldest comes first. */
export async function createTargetingRule(
  management: Management,
  { params, body }: Input<'createTargetingRule', 'params' | 'body'>,
): Promise<TargetingRuleView> {
  const { permission } = endpoints.createTargetingRule
  const request = { permission, load: loadFlagStatePath, params }
  return applyChange(management, request, async (writer, path) => {
    const { reader } = writer
    if ((await loadRules(reader, path)).length >= MOST_RULES) {
      throw invalid('', `A flag has at most ${MOST_RULES} targeting rules in an environment.`)
    }
    const kind = kindOf(body)
    await assertRule(reader, path, { ...body, kind }, undefined)
    const rule = await writer.insert('targetingRule', {
      flagId: path.flag.id,
      environmentId: path.environment.id,
      projectId: path.project.id,
      name: body.name,
      kind,
      conditions: body.conditions ?? [],
      segmentId: body.segmentId ?? null,
      variationId: body.variationId ?? null,
      rolloutId: body.rolloutId ?? null,
      orderIndex: body.orderIndex ?? 0,
    })
    const event = changeEvent('targeting_rule.created', rule.id, { before: null, after: rule })
    return { event, result: await viewRule(reader, rule), field: 'conditions' }
  })
}

/** Changes the given fields of a rule. */
export async function updateTargetingRule(
  management: Management,
  input: Input<'updateTargetingRule', 'params' | 'body' | 'expectedRevision'>,
): Promise<{ rule: TargetingRuleView; message: string }> {
  const { params, body, expectedRevision } = input
  const { permission } = endpoints.updateTargetingRule
  const request = { permission, load: loadTargetingRulePath, params }
  return applyChange(management, request, async (writer, path) => {
    await assertRule(writer.reader, path, body, path.rule)
    const changes = { ...segmentClearedBy(body, path.rule), ...body }
    const after = await writer.update('targetingRule', path.rule, changes, expectedRevision)
    const event = changeEvent('targeting_rule.updated', after.id, { before: path.rule, after })
    const message = after === path.rule ? 'Nothing changed' : 'Targeting rule updated'
    const rule = await viewRule(writer.reader, after)
    return { event, result: { rule, message }, field: 'conditions' }
  })
}

/** Deletes a rule. */
export async function deleteTargetingRule(
  management: Management,
  { params, expectedRevision }: Input<'deleteTargetingRule', 'params' | 'expectedRevision'>,
): Promise<null> {
  const { permission } = endpoints.deleteTargetingRule
  const request = { permission, load: loadTargetingRulePath, params }
  return applyChange(management, request, async (writer, { rule }) => {
    writer.assertRevision('targetingRule', rule, expectedRevision)
    await writer.remove('targetingRule', rule)
    const event = changeEvent('targeting_rule.deleted', rule.id, { before: rule, after: null })
    return { event, result: null }
  })
}

/** Puts rules in order; those not listed keep their place. Answers all of the flag's here. */
export async function reorderTargetingRules(
  management: Management,
  { params, body }: Input<'reorderTargetingRules', 'params' | 'body'>,
): Promise<TargetingRuleView[]> {
  const { permission } = endpoints.reorderTargetingRules
  const request = { permission, load: loadFlagStatePath, params }
  return applyChange(management, request, async (writer, path) => {
    const all = await loadRules(writer.reader, path)
    const moved = await reorder(writer, 'targetingRule', all, body)
    const event = changeEvent('targeting_rule.reordered', path.state.id, moved)
    return { event, result: await viewRules(writer.reader, await loadRules(writer.reader, path)) }
  })
}

function kindOf({ kind, segmentId }: TargetingRuleChanges): TargetingRule['kind'] {
  return kind ?? (typeof segmentId === 'string' ? 'segment' : 'custom')
}

/** A rule that becomes `custom` no longer depends on its segment, unless the change names one. */
function segmentClearedBy({ kind }: TargetingRuleChanges, is: TargetingRule): TargetingRuleChanges {
  return kind === 'custom' && is.kind === 'segment' ? { segmentId: null } : {}
}

/** Judges the rule as it will be: what is given, and for the rest what it `is`, if it exists. */
async function assertRule(
  reader: Reader,
  path: FlagStatePath,
  given: TargetingRuleChanges,
  is: TargetingRule | undefined,
): Promise<void> {
  const kind = given.kind ?? is?.kind
  const segmentId = given.segmentId === undefined ? is?.segmentId : given.segmentId
  if (kind === 'segment' && typeof segmentId !== 'string') {
    throw invalid('segment_id', 'is required when kind is segment')
  }
  // A rule without conditions matches every context, so that must be written out, not forgotten.
  const becomesCustom = given.kind === 'custom' && is?.kind !== 'custom'
  const conditions = given.conditions ?? (is?.conditions.length ? is.conditions : undefined)
  if (becomesCustom && conditions === undefined) {
    const hint = 'write [] for a rule that matches every context'
    throw invalid('conditions', `is required when kind is custom; ${hint}`)
  }
  await assertReferences(reader, path, given)
  if (given.conditions !== undefined) {
    await assertConditions(reader, path.project.id, given.conditions, 'conditions')
  }
}

async function assertReferences(
  reader: Reader,
  { project, environment, flag }: FlagStatePath,
  { segmentId, variationId, rolloutId }: TargetingRuleChanges,
): Promise<void> {
  if (typeof segmentId === 'string') {
    const segment = await reader.find('segment', segmentId)
    if (segment?.projectId !== project.id)
      throw invalid('segment_id', 'names no segment of this project')
  }
  if (typeof variationId === 'string') {
    const variation = await reader.find('variation', variationId)
    if (variation?.flagId !== flag.id)
      throw invalid('variation_id', 'names no variation of this flag')
  }
  if (typeof rolloutId === 'string') {
    const rollout = await reader.find('rollout', rolloutId)
    if (rollout?.flagId !== flag.id || rollout.environmentId !== environment.id) {
      throw invalid('rollout_id', 'names no rollout of this flag in this environment')
    }
  }
}

/** In the order in which they are tried. */
async function loadRules(
  reader: Reader,
  { flag, environment }: FlagStatePath,
): Promise<TargetingRule[]> {
  const where = { flagId: flag.id, environmentId: environment.id }
  const { data } = await reader.list('targetingRule', { where })
  return [...data].sort(inOrder)
}

async function viewRules(
  reader: Reader,
  rules: readonly TargetingRule[],
): Promise<TargetingRuleView[]> {
  const views: TargetingRuleView[] = []
  for (const rule of rules) views.push(await viewRule(reader, rule))
  return views
}

async function viewRule(reader: Reader, rule: TargetingRule): Promise<TargetingRuleView> {
  const segment = rule.segmentId === null ? undefined : await reader.find('segment', rule.segmentId)
  return segment === undefined ? rule : { ...rule, ...segmentFieldsOf(segment) }
}

function segmentFieldsOf(segment: Segment) {
  return {
    segmentName: segment.name,
    segmentDescription: segment.description,
    segmentKey: segment.key,
    segmentLogicalOp: segment.logicalOp,
    segmentRules: segment.rules,
    segment,
  }
}
