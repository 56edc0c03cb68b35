import fc from 'fast-check'
import { saltOf } from '../../src/flags/rollout-changes.ts'
import type { Json } from '../world/world.ts'
import { type ConfigurationScene, plan } from './configuration-scene.ts'

/** The ids that rules and rollouts have, so that they are changed, deleted and restored. */
const idAt = (kind: number) => (index: number) =>
  `00000000-0000-4000-8000-${String(kind).padStart(4, '0')}0000000${index}`
const ruleId = idAt(1)
const rolloutId = idAt(2)

/** Makes a complete configuration, with all fields, for the flag of a scene. */
export type MakeConfiguration = (scene: ConfigurationScene, segmentId: string) => Json

const anyKey = fc.constantFrom('x', 'y', 'z')
const anyWeight = fc.constantFrom(0, 10, 33.333, 50, 100)
const anyIndices = (count: number) =>
  fc.shuffledSubarray(Array.from({ length: count }, (_, index) => index))

const anyState = fc.record({
  isActive: fc.constantFrom(true, true, true, false),
  byDefault: fc.option(anyKey),
  off: fc.option(anyKey),
  target: fc.option(anyKey),
  needsOther: fc.boolean(),
})

const NONE = {
  ...{ variation_id: null, percentage: null, variants: null, target_percentage: null },
  ...{ increment: null, interval_hours: null, start_at: null },
}

const anyRollout = fc.record({
  strategy: fc.constantFrom('percentage', 'variant', 'gradual'),
  key: anyKey,
  weight: anyWeight,
  bucketBy: fc.constantFrom('user.key', 'user.plan'),
  scheme: fc.constantFrom('ff', 'ff', 'unleash'),
})

const anyRule = fc.record({
  key: fc.option(anyKey),
  rollout: fc.option(fc.nat({ max: 2 })),
  hasSegment: fc.boolean(),
  conditions: fc.constantFrom(
    [],
    [plan('pro')],
    [plan('free')],
    [{ ...plan('pro'), negate: true }],
  ),
  name: fc.constantFrom('Rule', '<b>', '規則'),
})

/** Any complete configuration. */
export const anyConfiguration: fc.Arbitrary<MakeConfiguration> = fc
  .record({
    state: anyState,
    ruleOrder: anyIndices(5),
    rules: fc.tuple(anyRule, anyRule, anyRule, anyRule, anyRule),
    rolloutIndices: anyIndices(3),
    rollouts: fc.tuple(anyRollout, anyRollout, anyRollout),
  })
  .map(({ state, ruleOrder, rules, rolloutIndices, rollouts }) => (scene, segmentId) => {
    const present = [...rolloutIndices].sort()
    return {
      state: stateOf(scene, state),
      targeting_rules: ruleOrder.map((index) => {
        const { key, rollout, hasSegment, conditions, name } = rules[index] ?? rules[0]
        const isKnown = rollout !== null && present.includes(rollout)
        return {
          ...{ id: ruleId(index), name, kind: hasSegment ? 'segment' : 'custom', conditions },
          segment_id: hasSegment ? segmentId : null,
          variation_id: key && scene.idOf(key),
          rollout_id: isKnown ? rolloutId(rollout) : null,
        }
      }),
      rollouts: present.map((index) => rolloutOf(scene, index, rollouts[index] ?? rollouts[0])),
    }
  })

type StateOf = typeof anyState extends fc.Arbitrary<infer T> ? T : never
type RolloutOf = typeof anyRollout extends fc.Arbitrary<infer T> ? T : never

function stateOf({ idOf, other }: ConfigurationScene, state: StateOf): Json {
  const { isActive, byDefault, off, target, needsOther } = state
  const [variation] = other.variations
  return {
    is_active: isActive,
    default_variation_id: byDefault && idOf(byDefault),
    off_variation_id: off && idOf(off),
    targets: target ? [{ variation_id: idOf(target), kind: 'user', keys: ['u1', 'u2'] }] : [],
    prerequisites: needsOther ? [{ flag_id: other.id, variation_ids: [variation.id] }] : [],
  }
}

function rolloutOf({ idOf }: ConfigurationScene, index: number, given: RolloutOf): Json {
  const { strategy, key, weight, bucketBy, scheme } = given
  const variation_id = idOf(key)
  const variants = [
    { variation_id, weight },
    { variation_id: idOf(key === 'x' ? 'y' : 'x'), weight: Math.min(20, 100 - weight) },
  ]
  const gradual = { target_percentage: 80, increment: 10, interval_hours: 1 }
  const start_at = '2030-01-01T00:30:00.000Z'
  const settings = {
    percentage: { variation_id, percentage: weight },
    variant: { variants },
    gradual: { variation_id, ...gradual, start_at },
  }[strategy as 'percentage' | 'variant' | 'gradual']
  const id = rolloutId(index)
  const frame = {
    id,
    name: `Rollout ${index}`,
    strategy,
    bucket_by: bucketBy,
    salt: saltOf(id),
    scheme,
  }
  return { ...frame, ...NONE, ...settings }
}

/** Returns the configuration without those fields that have their defaults. */
export function withoutDefaults({ state, targeting_rules: rules, rollouts }: Json): Json {
  return {
    state: without(state, []),
    targeting_rules: rules.map((rule: Json) => {
      const { kind, ...rest } = without(rule, [])
      const isDefault = kind === (rule.segment_id === null ? 'custom' : 'segment')
      const { conditions } = rule
      return { ...rest, ...(!isDefault && { kind }), conditions }
    }),
    rollouts: rollouts.map((rollout: Json) => without(rollout, ['salt'])),
  }
}

function without(record: Json, names: readonly string[]): Json {
  const isDefault = (value: unknown) =>
    value === null || (Array.isArray(value) && value.length === 0)
  const fields = Object.entries(record)
  return Object.fromEntries(
    fields.filter(([name, value]) => !names.includes(name) && !isDefault(value)),
  )
}
