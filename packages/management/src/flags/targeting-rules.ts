import { jsonEquals } from '@ff/core'
import type {
  TargetingRule,
  TargetingRuleChanges,
  TargetingRuleView,
} from '@ff/protocol/management'
import type { PathOf } from '../access/paths.ts'
import { completed } from '../changes/change-event.ts'
import type { Reader } from '../changes/record-writer.ts'
import { defineUseCases } from '../changes/use-case.ts'
import { cutPage } from '../requests/pages.ts'
import { invalid } from '../requests/validation.ts'
import { assertConditions } from './conditions.ts'
import { inOrder } from './flag-configuration.ts'
import { reorder } from './reorder.ts'
import { assertRuleFields, kindOf, resolveRule, ruleSettings } from './rule-settings.ts'

/** The records of a flag in an environment. */
type FlagStatePath = PathOf<Record<'projectId' | 'environmentId' | 'flagId', string>>

const MOST_RULES = 500

/** The use cases of targeting rules. */
export const targetingRuleUseCases = defineUseCases({
  /** Returns one page of a flag's rules in an environment, in the order of their evaluation. */
  async listTargetingRules({ storage, query, ...path }) {
    const page = cutPage(await loadRules(storage, path), query)
    return { ...page, data: await viewRules(storage, page.data) }
  },

  /** Returns a rule with its segment. */
  getTargetingRule: ({ storage, rule }) => viewRule(storage, rule),

  /**
   * Creates a rule. By default, its `orderIndex` is 0. Of rules with equal indices, the oldest is
   * evaluated first.
   */
  async createTargetingRule({ writer, body: given, ...path }) {
    const { reader } = writer
    if ((await loadRules(reader, path)).length >= MOST_RULES) {
      throw invalid('', `A flag can have at most ${MOST_RULES} targeting rules in an environment.`)
    }
    const kind = kindOf(given)
    const body = await checkRule(reader, path, { given: { ...given, kind } })
    const rule = await writer.insert('targetingRule', {
      flagId: path.flag.id,
      environmentId: path.environment.id,
      projectId: path.project.id,
      name: body.name,
      kind,
      ...ruleSettings(body),
      orderIndex: body.orderIndex ?? 0,
    })
    const result = await viewRule(reader, rule)
    return completed('targeting_rule.created', { after: rule }, { result, field: 'conditions' })
  },

  /** Changes the fields of a rule that the body contains. */
  async updateTargetingRule({ writer, body, expectedRevision, ...path }) {
    const given = await checkRule(writer.reader, path, { given: body, is: path.rule })
    const changes = { ...segmentClearedBy(body, path.rule), ...given }
    const after = await writer.update('targetingRule', path.rule, changes, expectedRevision)
    const message = after === path.rule ? 'Nothing changed' : 'Targeting rule updated'
    const result = { rule: await viewRule(writer.reader, after), message }
    const fields = { before: path.rule, after }
    return completed('targeting_rule.updated', fields, { result, field: 'conditions' })
  },

  /** Deletes a rule. */
  async deleteTargetingRule({ writer, rule, expectedRevision }) {
    await writer.remove('targetingRule', rule, expectedRevision)
    return completed('targeting_rule.deleted', { before: rule })
  },

  /**
   * Reorders rules and returns all rules of the flag in the environment. Rules that the request
   * does not list keep their index.
   */
  async reorderTargetingRules({ writer, body, ...path }) {
    const all = await loadRules(writer.reader, path)
    const moved = await reorder(writer, 'targetingRule', all, body)
    const result = await viewRules(writer.reader, await loadRules(writer.reader, path))
    return completed('targeting_rule.reordered', moved, { id: path.state.id, result })
  },
})

/** Returns the change that clears the segment of a rule that becomes `custom`. */
function segmentClearedBy({ kind }: TargetingRuleChanges, is: TargetingRule): TargetingRuleChanges {
  return kind === 'custom' && is.kind === 'segment' ? { segmentId: null } : {}
}

/**
 * Returns the fields of a new or changed rule, in which ids replace keys. Throws `INVALID_REQUEST`
 * if the rule would be invalid. A field that `given` does not contain has the value of the existing
 * rule `is`.
 */
async function checkRule<F extends TargetingRuleChanges>(
  reader: Reader,
  path: FlagStatePath,
  { given, is }: { readonly given: F; readonly is?: TargetingRule },
): Promise<F> {
  assertRuleFields(given, is)
  const { project, environment, flag } = path
  const resolved = await resolveRule(reader, path, given)
  const { rolloutId, conditions } = given
  if (typeof rolloutId === 'string') {
    const rollout = await reader.find('rollout', rolloutId)
    if (rollout?.flagId !== flag.id || rollout.environmentId !== environment.id) {
      throw invalid('rollout_id', 'must be the id of a rollout of this flag in this environment')
    }
  }
  if (conditions !== undefined && !jsonEquals(conditions, is?.conditions ?? null)) {
    const list = { field: 'conditions', conditions, stored: is?.conditions }
    await assertConditions(reader, project.id, [list])
  }
  return resolved
}

/** Returns the rules of a flag in an environment, in the order of their evaluation. */
async function loadRules(
  reader: Reader,
  { flag, environment }: FlagStatePath,
): Promise<TargetingRule[]> {
  const where = { flagId: flag.id, environmentId: environment.id }
  return [...(await reader.list('targetingRule', { where })).data].sort(inOrder)
}

function viewRules(reader: Reader, rules: readonly TargetingRule[]) {
  return Promise.all(rules.map((rule) => viewRule(reader, rule)))
}

async function viewRule(reader: Reader, rule: TargetingRule): Promise<TargetingRuleView> {
  const segment = rule.segmentId === null ? undefined : await reader.find('segment', rule.segmentId)
  if (segment === undefined) return rule
  return {
    ...rule,
    segmentName: segment.name,
    segmentDescription: segment.description,
    segmentKey: segment.key,
    segmentLogicalOp: segment.logicalOp,
    segmentRules: segment.rules,
    segment,
  }
}
