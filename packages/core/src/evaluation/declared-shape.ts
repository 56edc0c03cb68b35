import type {
  BucketRange,
  ConditionDefinition,
  FlagDefinition,
  GradualRolloutDefinition,
  PrerequisiteDefinition,
  RolloutDefinition,
  RuleDefinition,
  SegmentDefinition,
  TargetDefinition,
} from '../model/definition.ts'

// A definition has any shape until it is checked, whatever its type says. These checks are the
// fastest ones that suffice: if they succeed, the compilation does not throw.

/** Returns `true` if the compilation of a flag cannot throw. */
export function hasFlagShape(flag: FlagDefinition): boolean {
  return (
    areAll(flag.variations, isObject) &&
    areAll(flag.targets, isTarget) &&
    areAll(flag.prerequisites, isPrerequisite) &&
    areAll(flag.rollouts, isRollout) &&
    areAll(flag.rules, isRule)
  )
}

/** Returns `true` if the compilation of a segment cannot throw. */
export function hasSegmentShape(segment: SegmentDefinition): boolean {
  const { rules, keyAttribute, included, excluded } = segment
  return (
    areConditions(rules) &&
    typeof keyAttribute === 'string' &&
    Array.isArray(included) &&
    Array.isArray(excluded)
  )
}

function isTarget(target: TargetDefinition): boolean {
  return isObject(target) && Array.isArray(target.keys)
}

function isPrerequisite(prerequisite: PrerequisiteDefinition): boolean {
  return isObject(prerequisite) && Array.isArray(prerequisite.variationIds)
}

function isRule(rule: RuleDefinition): boolean {
  return (
    isObject(rule) &&
    typeof rule.id === 'string' &&
    typeof rule.createdAt === 'string' &&
    typeof rule.orderIndex === 'number' &&
    areConditions(rule.conditions)
  )
}

/** Not `areAll`, because a flag set has more conditions than anything else. */
function areConditions(list: readonly ConditionDefinition[]): boolean {
  if (!Array.isArray(list)) return false
  for (let at = 0; at < list.length; at += 1) {
    const condition: unknown = list[at]
    if (typeof condition !== 'object' || condition === null) return false
    if (typeof (condition as ConditionDefinition).value !== 'string') return false
  }
  return true
}

function isRollout(rollout: RolloutDefinition): boolean {
  return (
    isObject(rollout) &&
    typeof rollout.bucketBy === 'string' &&
    typeof rollout.salt === 'string' &&
    (rollout.strategy === 'gradual' ? isSchedule(rollout) : areAll(rollout.ranges, isRange))
  )
}

function isSchedule(rollout: GradualRolloutDefinition): boolean {
  const { targetPercentage, increment, intervalHours, startAt } = rollout
  const numbers = [targetPercentage, increment, intervalHours]
  return typeof startAt === 'string' && numbers.every((each) => typeof each === 'number')
}

function isRange(range: BucketRange): boolean {
  return isObject(range) && typeof range.from === 'number' && typeof range.to === 'number'
}

function areAll<Element>(
  list: readonly Element[],
  isSound: (element: Element) => boolean,
): boolean {
  if (!Array.isArray(list)) return false
  // Not `every`, which skips holes.
  for (let at = 0; at < list.length; at += 1) if (!isSound(list[at] as Element)) return false
  return true
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
