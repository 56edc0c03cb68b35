import type {
  ConditionDefinition,
  FlagDefinition,
  FlagSetDefinition,
  SegmentDefinition,
} from '../src/index.ts'

/** Returns a boolean flag with the variations `on` and `off` that serves `off`, with changes. */
export function flagDefinition(key: string, changes: Partial<FlagDefinition> = {}): FlagDefinition {
  return {
    id: `id of ${key}`,
    key,
    type: 'boolean',
    isActive: true,
    variations: [
      { id: 'on', key: 'on', value: 'true' },
      { id: 'off', key: 'off', value: 'false' },
    ],
    defaultVariationId: 'off',
    offVariationId: null,
    targets: [],
    prerequisites: [],
    rules: [],
    rollouts: [],
    ...changes,
  }
}

/** Returns a rule that serves `on` to every context, with changes. */
export function ruleDefinition(
  changes: Partial<FlagDefinition['rules'][number]> = {},
): FlagDefinition['rules'][number] {
  return {
    id: 'rule',
    orderIndex: 0,
    createdAt: '2026-01-01T00:00:00.000Z',
    conditions: [],
    segmentId: null,
    variationId: 'on',
    rolloutId: null,
    ...changes,
  }
}

/** Returns a condition that a flag serves `on`. */
export function onFlag(attribute: string): ConditionDefinition {
  return { attribute, operator: 'flag_is', value: 'on' }
}

/** Returns a condition on segments, whose value is an id or a list of ids. */
export function onSegment(value: string): ConditionDefinition {
  return { attribute: '', operator: 'in_segment', value }
}

/** Returns a flag with one rule, which has these conditions. */
export function withRule(key: string, ...conditions: ConditionDefinition[]): FlagDefinition {
  return flagDefinition(key, { rules: [ruleDefinition({ conditions })] })
}

/** Returns a segment that matches no context, with changes. */
export function segmentDefinition(
  id: string,
  changes: Partial<SegmentDefinition> = {},
): SegmentDefinition {
  return {
    id,
    key: id,
    rules: [],
    logicalOp: 'AND',
    force: false,
    keyAttribute: 'user.key',
    included: [],
    excluded: [],
    ...changes,
  }
}

/** Returns a flag with a gradual rollout that adds 10 % every hour, starting at a timestamp. */
export function gradualFlag(key: string, startAt: string): FlagDefinition {
  return flagDefinition(key, {
    rules: [ruleDefinition({ variationId: null, rolloutId: 'gradual' })],
    rollouts: [
      {
        id: 'gradual',
        bucketBy: 'user.key',
        salt: 'aB3dE5gH7jK',
        scheme: 'ff',
        strategy: 'gradual',
        variationId: 'on',
        targetPercentage: 30,
        increment: 10,
        intervalHours: 1,
        startAt,
      },
    ],
  })
}

/** Returns a definition with the version 1. */
export function flagSetDefinition(
  flags: readonly FlagDefinition[],
  segments: readonly SegmentDefinition[] = [],
): FlagSetDefinition {
  return { version: 1, flags, segments }
}
