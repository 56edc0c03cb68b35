import {
  type Configuration,
  type ConfigurationState,
  isSame,
  type Rollout,
  type Rule,
  rolloutOf,
  usedRollouts,
} from './configuration.ts'
import { mergedOrder, mergedSide, type Side, type Sides, sidesByKey } from './merge-fields.ts'

/** A field that both sides changed differently. `id` identifies it in the choices. */
export type Conflict = { readonly id: string } & (
  | ({ readonly kind: 'isActive' } & Sides<boolean>)
  | ({ readonly kind: 'defaultVariation' | 'offVariation' } & Sides<string | null>)
  | ({ readonly kind: 'target'; readonly contextKind: string; readonly key: string } & Sides<
      string | null
    >)
  | ({ readonly kind: 'prerequisite'; readonly flagId: string } & Sides<readonly string[] | null>)
  | ({
      readonly kind: RuleConflictKind
      /** The rollouts that the rules serve, for the kinds `rule` and `ruleServes`. */
      readonly rollouts?: Sides<Rollout | null>
    } & Sides<Rule | null>)
  | ({ readonly kind: RolloutConflictKind } & Sides<Rollout | null>)
)

type RuleConflictKind = 'rule' | 'ruleName' | 'ruleConditions' | 'ruleSegment' | 'ruleServes'
type RolloutConflictKind = 'rollout' | 'rolloutName' | 'rolloutBucketing' | 'rolloutShares'

/** The chosen side of each conflict, by its id. Without a choice, it is `yours`. */
export type Choices = ReadonlyMap<string, Side>

/** The result of a three-way merge. */
export interface ConfigurationMerge {
  readonly sides: Sides<Configuration>
  readonly conflicts: readonly Conflict[]
  /** The merged configuration, with your side of each conflict. */
  readonly configuration: Configuration
}

/**
 * Merges two changes of a configuration. A field that only one side changed has the value of that
 * side. The other fields are conflicts.
 */
export function mergeConfigurations(sides: Sides<Configuration>): ConfigurationMerge {
  return { sides, ...merged(sides, new Map()) }
}

/** Returns the configuration of a merge with a chosen side for each conflict. */
export function resolveConflicts({ sides }: ConfigurationMerge, choices: Choices): Configuration {
  return merged(sides, choices).configuration
}

/** Collects the conflicts of a merge, and returns the chosen sides. */
interface Chooser {
  readonly conflicts: Conflict[]
  readonly choices: Choices
  /** The chosen sides of the rollouts about which the choice for a rule decides. */
  readonly decided: Map<string, Side>
}

function merged(sides: Sides<Configuration>, choices: Choices) {
  const chooser: Chooser = { conflicts: [], choices, decided: new Map() }
  const state = mergedState(
    each(sides, (side) => side.state),
    chooser,
  )
  const targetingRules = mergedRules(sides, chooser)
  const used = usedRollouts({ ...sides.yours, targetingRules })
  const usedOnSides = [sides.before, sides.theirs, sides.yours].map(usedRollouts)
  const rollouts = sidesByKey(each(sides, ({ rollouts: all }) => byId(all))).flatMap(
    ([id, side]) => {
      const isOrphan = !used.has(id) && usedOnSides.some((ids) => ids.has(id))
      return mergedRollout(side, { id, isUsed: used.has(id), isOrphan }, chooser) ?? []
    },
  )
  const { revision } = sides.theirs
  return {
    configuration: { state, targetingRules, rollouts, revision },
    conflicts: chooser.conflicts,
  }
}

function each<T, R>({ before, theirs, yours }: Sides<T>, get: (side: T) => R): Sides<R> {
  return { before: get(before), theirs: get(theirs), yours: get(yours) }
}

function eachSide<R>(get: (side: Side) => R): Sides<R> {
  return { before: get('before'), theirs: get('theirs'), yours: get('yours') }
}

function byId<T extends { readonly id: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.id, item]))
}

/** Returns the side of a value, and notes a conflict if both sides changed it differently. */
function sideOf(values: Sides<unknown>, conflict: Conflict, chooser: Chooser): Side {
  const side = mergedSide(values)
  if (side !== undefined) return side
  chooser.conflicts.push(conflict)
  return chooser.choices.get(conflict.id) ?? 'yours'
}

function mergedState(sides: Sides<ConfigurationState>, chooser: Chooser): ConfigurationState {
  const active = each(sides, ({ isActive }) => isActive)
  const served = each(sides, ({ defaultVariationId }) => defaultVariationId)
  const off = each(sides, ({ offVariationId }) => offVariationId)
  const activeSide = sideOf(active, { id: 'isActive', kind: 'isActive', ...active }, chooser)
  const kind = 'defaultVariation'
  const servedSide = sideOf(served, { id: kind, kind, ...served }, chooser)
  const offSide = sideOf(off, { id: 'offVariation', kind: 'offVariation', ...off }, chooser)
  return {
    isActive: active[activeSide],
    defaultVariationId: served[servedSide],
    offVariationId: off[offSide],
    targets: mergedTargets(
      each(sides, ({ targets }) => targets),
      chooser,
    ),
    prerequisites: mergedPrerequisites(
      each(sides, (state) => state.prerequisites),
      chooser,
    ),
  }
}

type Targets = ConfigurationState['targets']

function mergedTargets(sides: Sides<Targets>, chooser: Chooser): Targets {
  const whole = mergedSide(sides)
  if (whole !== undefined) return sides[whole]
  const assigned = new Map<string, string[]>()
  for (const [name, values] of sidesByKey(each(sides, variationsByKey))) {
    const [contextKind, key] = JSON.parse(name) as [string, string]
    const id = JSON.stringify(['target', contextKind, key])
    const side = sideOf(values, { id, kind: 'target', contextKind, key, ...values }, chooser)
    const variationId = values[side]
    if (variationId === null) continue
    const target = JSON.stringify([contextKind, variationId])
    assigned.set(target, [...(assigned.get(target) ?? []), key])
  }
  const names = each(sides, (targets) => [
    ...new Set(targets.map(({ kind, variationId }) => JSON.stringify([kind, variationId]))),
  ])
  return mergedOrder(names).flatMap((name) => {
    const [kind, variationId] = JSON.parse(name) as [string, string]
    const keys = assigned.get(name)
    return keys === undefined ? [] : [{ kind, variationId, keys }]
  })
}

function variationsByKey(targets: Targets): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const { kind, keys, variationId } of targets) {
    for (const key of keys) found.set(JSON.stringify([kind, key]), variationId)
  }
  return found
}

type Prerequisites = ConfigurationState['prerequisites']

function mergedPrerequisites(sides: Sides<Prerequisites>, chooser: Chooser): Prerequisites {
  const maps = each(sides, (all) => new Map(all.map((one) => [one.flagId, one.variationIds])))
  return sidesByKey(maps).flatMap(([flagId, values]) => {
    const id = JSON.stringify(['prerequisite', flagId])
    const side = sideOf(values, { id, kind: 'prerequisite', flagId, ...values }, chooser)
    const variationIds = values[side]
    return variationIds === null ? [] : [{ flagId, variationIds }]
  })
}

function mergedRules(sides: Sides<Configuration>, chooser: Chooser): Rule[] {
  const rules = each(sides, ({ targetingRules }) => byId(targetingRules))
  return sidesByKey(rules).flatMap(([id, side]) => {
    const { before, theirs, yours } = side
    if (before !== null && theirs !== null && yours !== null) {
      return [mergedRule({ before, theirs, yours }, rolloutsOf(sides, side), chooser)]
    }
    // A rule counts as changed if its rollout has changed, so that this change is not lost.
    const rollouts = rolloutsOf(sides, side)
    const whole = eachSide((name) => side[name] && { rule: side[name], rollout: rollouts[name] })
    const name = JSON.stringify(['rule', id])
    const chosen = sideOf(whole, { id: name, kind: 'rule', rollouts, ...side }, chooser)
    decide(rollouts, chosen, chooser)
    return side[chosen] ?? []
  })
}

/** Returns the rollouts that the versions of a rule serve. */
function rolloutsOf(sides: Sides<Configuration>, rules: Sides<Rule | null>): Sides<Rollout | null> {
  return eachSide((side) => {
    const rule = rules[side]
    return (rule && rolloutOf(sides[side], rule)) ?? null
  })
}

/** Notes the chosen side for the rollouts of a rule. */
function decide(rollouts: Sides<Rollout | null>, side: Side, { decided }: Chooser): void {
  const { before, theirs, yours } = rollouts
  for (const rollout of [before, theirs, yours]) if (rollout) decided.set(rollout.id, side)
}

const RULE_FIELDS = [
  ['ruleName', ['name']],
  ['ruleConditions', ['conditions']],
  ['ruleSegment', ['kind', 'segmentId']],
] as const

function mergedRule(sides: Sides<Rule>, rollouts: Sides<Rollout | null>, chooser: Chooser): Rule {
  const parts = RULE_FIELDS.map(([kind, fields]) => {
    const values = each(sides, (side) => picked(side, fields))
    const id = JSON.stringify([kind, sides.yours.id])
    return values[sideOf(values, { id, kind, ...sides }, chooser)]
  })
  return Object.assign({}, sides.yours, ...parts, mergedServe(sides, rollouts, chooser)) as Rule
}

/**
 * Returns what a merged rule serves. If a side has replaced the rollout of the rule, a change of
 * this rollout on the other side is a conflict, so that it is not lost.
 */
function mergedServe(sides: Sides<Rule>, rollouts: Sides<Rollout | null>, chooser: Chooser) {
  const served = each(sides, (side) => picked(side, ['variationId', 'rolloutId']))
  if (isSame(served.before, served.theirs) && isSame(served.before, served.yours)) {
    return served.yours
  }
  const values = eachSide((side) => ({ ...served[side], rollout: rollouts[side] }))
  const id = JSON.stringify(['ruleServes', sides.yours.id])
  const side = sideOf(values, { id, kind: 'ruleServes', rollouts, ...sides }, chooser)
  decide(rollouts, side, chooser)
  return served[side]
}

const ROLLOUT_FIELDS = [
  ['rolloutName', ['name']],
  ['rolloutBucketing', ['bucketBy', 'salt', 'scheme']],
  [
    'rolloutShares',
    [
      'strategy',
      'variationId',
      'percentage',
      'variants',
      'targetPercentage',
      'increment',
      'intervalHours',
      'startAt',
    ],
  ],
] as const

function picked<T extends object, F extends keyof T>(item: T, fields: readonly F[]): Pick<T, F> {
  return Object.fromEntries(fields.map((field) => [field, item[field]])) as Pick<T, F>
}

interface RolloutUse {
  readonly id: string
  /** `true` if a merged rule uses the rollout. */
  readonly isUsed: boolean
  /** `true` if rules of a side use the rollout, but no merged rule does. */
  readonly isOrphan: boolean
}

function mergedRollout(
  side: Sides<Rollout | null>,
  { id, isUsed, isOrphan }: RolloutUse,
  chooser: Chooser,
): Rollout | null {
  const { before, theirs, yours } = side
  if (before !== null && theirs !== null && yours !== null) {
    const rollout = mergedRolloutFields({ before, theirs, yours }, chooser)
    return isOrphan ? null : rollout
  }
  if (isOrphan) return null
  if (!isUsed) {
    const conflict = { id: JSON.stringify(['rollout', id]), kind: 'rollout', ...side } as const
    return side[sideOf(side, conflict, chooser)]
  }
  const decided = chooser.decided.get(id)
  return (decided && side[decided]) ?? changedOf(side)
}

/** Returns the version of a rollout that a side has changed; `before` if both sides removed it. */
function changedOf({ before, theirs, yours }: Sides<Rollout | null>): Rollout | null {
  return yours !== null && !isSame(before, yours) ? yours : (theirs ?? yours ?? before)
}

function mergedRolloutFields(sides: Sides<Rollout>, chooser: Chooser): Rollout {
  const parts = ROLLOUT_FIELDS.map(([kind, fields]) => {
    const values = each(sides, (side) => picked<Rollout, (typeof fields)[number]>(side, fields))
    const id = JSON.stringify([kind, sides.yours.id])
    return values[sideOf(values, { id, kind, ...sides }, chooser)]
  })
  return Object.assign({}, sides.yours, ...parts) as Rollout
}
