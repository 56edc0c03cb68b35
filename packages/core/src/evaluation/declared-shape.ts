import type {
  BucketRange,
  FlagDefinition,
  PrerequisiteDefinition,
  RolloutDefinition,
  RuleDefinition,
  SegmentDefinition,
  TargetDefinition,
} from '../model/definition.ts'

// A definition has any shape until it is checked, whatever its type says. If these checks succeed,
// the compilation does not throw. They check nothing that the search for references and the
// compilation of schedules check, because these are done at once.

/** Returns `true` if a flag whose references are known can be compiled. */
export function hasFlagShape(flag: FlagDefinition): boolean {
  return (
    areAll(flag.variations, isObject) &&
    areAll(flag.targets, isTarget) &&
    areAll(flag.prerequisites, isPrerequisite) &&
    areAll(flag.rollouts, isRollout) &&
    areAll(flag.rules, isRule)
  )
}

/** Returns `true` if a segment whose references are known can be compiled. */
export function hasSegmentShape(segment: SegmentDefinition): boolean {
  const lists = [segment.rules, segment.included, segment.excluded]
  return typeof segment.keyAttribute === 'string' && lists.every(Array.isArray)
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
    Array.isArray(rule.conditions)
  )
}

function isRollout(rollout: RolloutDefinition): boolean {
  return (
    isObject(rollout) &&
    typeof rollout.bucketBy === 'string' &&
    typeof rollout.salt === 'string' &&
    (rollout.strategy === 'gradual' || areAll(rollout.ranges, isRange))
  )
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
