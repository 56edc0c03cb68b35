import { jsonEquals } from '@ff/core'
import type { Environment, Flag, FlagConfigurationInput, Project } from '@ff/protocol/management'
import type { Records } from '@ff/storage'
import { cachedReader } from '../changes/cached-reader.ts'
import { changedFields, type Reader } from '../changes/record-writer.ts'
import { assertDistinct, invalid, withinField } from '../requests/validation.ts'
import { assertConditions } from './conditions.ts'
import { differencesIn, type PartDifference } from './configuration-differences.ts'
import { type FlagConfiguration, inOrder } from './flag-configuration.ts'
import { checkedState } from './flag-states.ts'
import { changedRollout, newRollout, saltOf } from './rollout-changes.ts'
import { NO_SETTINGS } from './rollout-settings.ts'
import { assertRuleFields, kindOf, resolveRule, ruleSettings } from './rule-settings.ts'
import { loadVariations } from './variations.ts'

type RuleInput = FlagConfigurationInput['targetingRules'][number]
type RolloutInput = FlagConfigurationInput['rollouts'][number]

/** The flag and the environment of a configuration. */
export interface ConfigurationPlace {
  readonly project: Project
  readonly environment: Environment
  readonly flag: Flag
}

/** A configuration that replaces the present one. */
export interface ConfigurationChange {
  readonly present: FlagConfiguration
  readonly document: FlagConfigurationInput
  /** The timestamp of the change. */
  readonly now: string
}

interface Planning extends ConfigurationPlace, ConfigurationChange {
  readonly reader: Reader
}

/**
 * Returns the records of a flag in an environment after its configuration was replaced by a
 * document. A record that does not change is the present record. Writes nothing. Throws
 * `INVALID_REQUEST`, with a path in the document, if the document is not valid.
 */
export async function planConfiguration(
  reader: Reader,
  place: ConfigurationPlace,
  change: ConfigurationChange,
): Promise<FlagConfiguration> {
  const { targetingRules, rollouts } = change.document
  assertDistinct(idsOf(targetingRules), (index) => `targeting_rules.${index}.id`)
  assertDistinct(idsOf(rollouts), (index) => `rollouts.${index}.id`)
  const planning = { ...place, ...change, reader: cachedReader(reader) }
  return {
    state: await withinField('state', () => plannedState(planning)),
    rollouts: await plannedRollouts(planning),
    targetingRules: await plannedRules(planning),
  }
}

/** Returns the changes that turn the present configuration into the wanted one. */
export function differencesTo(
  present: FlagConfiguration,
  wanted: FlagConfiguration,
): readonly PartDifference[] {
  return [
    ...differencesIn('flagState', [present.state], pairs([present.state], [wanted.state])),
    ...differencesIn('rollout', present.rollouts, pairs(present.rollouts, wanted.rollouts)),
    ...differencesIn(
      'targetingRule',
      present.targetingRules,
      pairs(present.targetingRules, wanted.targetingRules),
    ),
  ]
}

function pairs<R extends { readonly id: string }>(present: readonly R[], wanted: readonly R[]) {
  const known = byId(present)
  return wanted.map((after) => ({ before: known.get(after.id) ?? null, after }))
}

async function plannedState(planning: Planning): Promise<Records['flagState']> {
  const { reader, present, document } = planning
  const given = { defaultVariationId: null, offVariationId: null, ...lists, ...document.state }
  return withChanges(
    present.state,
    await checkedState(reader, planning, { changes: given, stored: present.state }),
  )
}

const lists = { targets: [], prerequisites: [] }

async function plannedRollouts(planning: Planning): Promise<Records['rollout'][]> {
  const { reader, flag, present, document, now } = planning
  const variations = await loadVariations(reader, flag.id)
  const known = byId(present.rollouts)
  const planned: Records['rollout'][] = []
  for (const [index, given] of document.rollouts.entries()) {
    const is = known.get(given.id)
    const whole = wholeRollout(given)
    const rollout = await withinField(`rollouts.${index}`, () => {
      if (is !== undefined) return withChanges(is, changedRollout(is, whole, { variations, now }))
      // With a salt from its id, a dry run and the change assign the same buckets.
      const fields = newRollout({ ...whole, salt: given.salt ?? saltOf(given.id) }, variations, now)
      return { ...newFrame(planning, given), ...fields }
    })
    planned.push(rollout)
  }
  return planned
}

/** Returns the fields of a rollout, in which `null` replaces the absent fields of strategies. */
function wholeRollout({ id: _, ...given }: RolloutInput) {
  return { ...NO_SETTINGS, startAt: undefined, ...given }
}

async function plannedRules(planning: Planning): Promise<Records['targetingRule'][]> {
  const { reader, project, present, document } = planning
  const known = byId(present.targetingRules)
  const rolloutIds = new Set(idsOf(document.rollouts))
  const planned: Records['targetingRule'][] = []
  for (const [index, given] of document.targetingRules.entries()) {
    const fields = await withinField(`targeting_rules.${index}`, () =>
      checkedRule(planning, given, rolloutIds),
    )
    const frame = known.get(given.id) ?? { ...newFrame(planning, given), orderIndex: index }
    planned.push(withChanges(frame as Records['targetingRule'], fields))
  }
  const changed = planned.flatMap(({ id, conditions }, index) => {
    const stored = known.get(id)?.conditions
    const isSame = jsonEquals(conditions, stored ?? null)
    return isSame ? [] : { field: `targeting_rules.${index}.conditions`, conditions, stored }
  })
  await assertConditions(reader, project.id, changed)
  return inPlaces(planned, known)
}

async function checkedRule(
  planning: Planning,
  given: RuleInput,
  rolloutIds: ReadonlySet<string>,
): Promise<Partial<Records['targetingRule']>> {
  const { id: _, name, ...rest } = given
  const rule = { ...rest, kind: kindOf(given) }
  assertRuleFields(rule, undefined)
  const { rolloutId } = rule
  if (typeof rolloutId === 'string' && !rolloutIds.has(rolloutId)) {
    throw invalid('rollout_id', 'must be the id of a rollout in rollouts')
  }
  const { kind, ...resolved } = await resolveRule(planning.reader, planning, rule)
  return { name, kind, ...ruleSettings(resolved) }
}

/**
 * Returns the rules with order indices in the order of the list. If the present indices give this
 * order already, they are kept, so that unchanged rules are not written.
 */
function inPlaces(
  rules: readonly Records['targetingRule'][],
  known: ReadonlyMap<string, unknown>,
): Records['targetingRule'][] {
  const isKept = rules.every((rule, index) => {
    const previous = rules[index - 1]
    return known.has(rule.id) && (previous === undefined || inOrder(previous, rule) < 0)
  })
  return rules.map((rule, orderIndex) => (isKept ? rule : withChanges(rule, { orderIndex })))
}

/** Returns the fields of a new record that are the same for all kinds. */
function newFrame({ project, environment, flag, now }: Planning, { id }: { readonly id: string }) {
  const parents = { flagId: flag.id, environmentId: environment.id, projectId: project.id }
  return { id, ...parents, createdAt: now, updatedAt: now, deletedAt: null, revision: 1 }
}

/** Returns a record with changes; the same object if no field differs. */
function withChanges<R extends object>(record: R, changes: object): R {
  const changed = changedFields(record, changes)
  return Object.keys(changed).length === 0 ? record : { ...record, ...changed }
}

function byId<R extends { readonly id: string }>(records: readonly R[]): ReadonlyMap<string, R> {
  return new Map(records.map((record) => [record.id, record]))
}

function idsOf(records: readonly { readonly id: string }[]): readonly string[] {
  return records.map(({ id }) => id)
}
