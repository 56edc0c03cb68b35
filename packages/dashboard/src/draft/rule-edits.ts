import type { Condition } from '@ff/protocol/management'
import {
  type Configuration,
  findById,
  type Rule,
  withItem,
  withoutOrphans,
} from './configuration.ts'
import { newRollout } from './rollout-edits.ts'

/** An edit of the targeting rules. Indices count from 0. */
export type RuleEdit =
  | {
      readonly type: 'addRule'
      readonly rule: Partial<Omit<Rule, 'id'>> & Pick<Rule, 'name'>
      /** The position of the rule; the end by default. */
      readonly index?: number
      /** The UUID of the rule; a generated one by default. */
      readonly id?: string
      /** A new rollout that the rule serves. */
      readonly rollout?: { readonly id: string; readonly variationId: string | null }
    }
  | { readonly type: 'removeRule'; readonly ruleId: string }
  | { readonly type: 'moveRule'; readonly ruleId: string; readonly index: number }
  | { readonly type: 'renameRule'; readonly ruleId: string; readonly name: string }
  | {
      readonly type: 'setRuleSegment'
      readonly ruleId: string
      readonly segmentId: string | null
    }
  | { readonly type: 'addCondition'; readonly ruleId: string; readonly condition: Condition }
  | {
      readonly type: 'setCondition'
      readonly ruleId: string
      readonly index: number
      readonly changes: Partial<Condition>
    }
  | { readonly type: 'removeCondition'; readonly ruleId: string; readonly index: number }
  | {
      readonly type: 'serveVariation'
      readonly ruleId: string
      readonly variationId: string | null
    }
  | {
      readonly type: 'serveRollout'
      readonly ruleId: string
      /** An existing rollout; absent for a new one. */
      readonly rolloutId?: string
      /** The variation of a new rollout. */
      readonly variationId?: string | null
      /** The UUID of a new rollout; a generated one by default. */
      readonly id?: string
    }

type EditOf<Type extends RuleEdit['type']> = Extract<RuleEdit, { type: Type }>

/** Returns a configuration after an edit of its rules. `newId` returns a new UUID. */
export function withRuleEdit(
  configuration: Configuration,
  edit: RuleEdit,
  newId: () => string,
): Configuration {
  const { targetingRules } = configuration
  if (edit.type === 'addRule') return withNewRule(configuration, edit, newId)
  if (edit.type === 'serveRollout') return withRollout(configuration, edit, newId)
  const rules =
    edit.type === 'removeRule'
      ? targetingRules.filter(({ id }) => id !== edit.ruleId)
      : edit.type === 'moveRule'
        ? moved(targetingRules, edit)
        : withItem(targetingRules, edit.ruleId, (rule) => changedRule(rule, edit))
  return withoutOrphans(configuration, { ...configuration, targetingRules: rules })
}

function withNewRule(
  configuration: Configuration,
  { rule, index, id, rollout }: EditOf<'addRule'>,
  newId: () => string,
): Configuration {
  const kind = typeof rule.segmentId === 'string' ? 'segment' : 'custom'
  const blank = {
    kind,
    conditions: [],
    segmentId: null,
    variationId: null,
    rolloutId: null,
  } as const
  const serves = rollout === undefined ? {} : { variationId: null, rolloutId: rollout.id }
  const added = { ...blank, conditions: [], ...rule, ...serves, id: id ?? newId() }
  const rules = [...configuration.targetingRules]
  rules.splice(index ?? rules.length, 0, added)
  const rollouts =
    rollout === undefined ? [] : [newRollout(rollout.id, rule.name, rollout.variationId)]
  return {
    ...configuration,
    targetingRules: rules,
    rollouts: [...configuration.rollouts, ...rollouts],
  }
}

function withRollout(
  configuration: Configuration,
  edit: EditOf<'serveRollout'>,
  newId: () => string,
): Configuration {
  const { targetingRules, rollouts } = configuration
  const rule = findById(targetingRules, edit.ruleId)
  if (rule === undefined) return configuration
  const isKnown = edit.rolloutId !== undefined
  if (isKnown && findById(rollouts, edit.rolloutId ?? null) === undefined) return configuration
  const id = edit.rolloutId ?? edit.id ?? newId()
  const served = edit.variationId ?? rule.variationId
  const change = (each: Rule) => ({ ...each, rolloutId: id, variationId: null })
  return withoutOrphans(configuration, {
    ...configuration,
    targetingRules: withItem(targetingRules, edit.ruleId, change),
    rollouts: isKnown ? rollouts : [...rollouts, newRollout(id, rule.name, served)],
  })
}

function moved(rules: readonly Rule[], { ruleId, index }: EditOf<'moveRule'>): Rule[] {
  const rule = findById(rules, ruleId)
  const others = rules.filter(({ id }) => id !== ruleId)
  if (rule !== undefined) others.splice(Math.max(0, index), 0, rule)
  return others
}

type OneRuleEdit = Exclude<
  RuleEdit,
  { type: 'addRule' | 'removeRule' | 'moveRule' | 'serveRollout' }
>

function changedRule(rule: Rule, edit: OneRuleEdit): Rule {
  switch (edit.type) {
    case 'renameRule':
      return { ...rule, name: edit.name }
    case 'setRuleSegment':
      return {
        ...rule,
        kind: edit.segmentId === null ? 'custom' : 'segment',
        segmentId: edit.segmentId,
      }
    case 'serveVariation':
      return { ...rule, variationId: edit.variationId, rolloutId: null }
    default:
      return { ...rule, conditions: changedConditions(rule.conditions, edit) }
  }
}

type ConditionEdit = EditOf<'addCondition' | 'setCondition' | 'removeCondition'>

/** Returns conditions after an edit of one of them. */
export function changedConditions(
  conditions: readonly Condition[],
  edit: Pick<EditOf<'addCondition'>, 'type' | 'condition'> | OmitRule<ConditionEdit>,
): Condition[] {
  if (edit.type === 'addCondition') return [...conditions, edit.condition]
  if (edit.type === 'removeCondition') return conditions.filter((_, at) => at !== edit.index)
  return conditions.map((each, at) => (at === edit.index ? changed(each, edit.changes) : each))
}

type OmitRule<E> = E extends unknown ? Omit<E, 'ruleId'> : never

function changed(condition: Condition, changes: Partial<Condition>): Condition {
  const { negate, ...rest } = { ...condition, ...changes }
  return negate === true ? { ...rest, negate } : rest
}
