import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../scripts/test-selection.ts'
import { detailsOf } from '../src/all-flags.ts'
import { findIssues } from '../src/authoring.ts'
import { evaluateTogether } from '../src/batch/evaluate-all.ts'
import {
  type ConditionDefinition,
  compileFlagSet,
  evaluateFlag,
  type FlagDefinition,
  type FlagSetDefinition,
  type RolloutDefinition,
  type SegmentDefinition,
} from '../src/index.ts'
import { flagDefinition, ruleDefinition, segmentDefinition } from './definitions.ts'

const USER = { kind: 'user', key: 'user-1', a: 'b', b: 'a', plan: ' b' }
const NOW = 0

/** Keys and ids that contain the words and separators of dependency names. */
const PIECES = [
  ...['x', 'a', ' ', ':', '"', '1', 'flag', 'segment', 'id', 'with the id', 'without a name'],
  ...['flag with the id x', 'flag:x', 'flag id:x', 'segment:x', 'regex engine', 'extension:'],
  ...['bucketing scheme "x"', 'false', '__proto__', '\u0000', 'undefined', 'null', '5'],
]
const anyName = fc.oneof(
  fc.constantFrom(...PIECES),
  fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 3 }).map((all) => all.join(' ')),
)
/** Ids, some of which are not text, contrary to their type. */
const anyId = fc.oneof(
  { weight: 6, arbitrary: anyName },
  { weight: 1, arbitrary: fc.constantFrom(5, null, true, []) as unknown as fc.Arbitrary<string> },
)

/** Operators and texts that can be concatenated to the same text in several ways. */
const OPERATORS = ['eq', 'eq a', 'neq', 'in', 'in_segment', 'flag_is', 'matches', 'in_bucket']
const TEXTS = ['', ' ', 'a', 'b', ' b', 'a b', 'eq', 'eq a', 'false', 'true eq ', '1', '5']
const SHARE = JSON.stringify({ salt: 's', ranges: [[0, 100_000]], scheme: 'x' })
const anyCondition: fc.Arbitrary<ConditionDefinition> = fc.record(
  {
    attribute: fc.oneof(fc.constantFrom(...TEXTS), anyName),
    operator: fc.oneof(fc.constantFrom(...OPERATORS), fc.constantFrom(...TEXTS)),
    value: fc.oneof(fc.constantFrom(...TEXTS, SHARE), anyName),
    negate: fc.boolean(),
  },
  { requiredKeys: ['attribute', 'operator', 'value'] },
)

/** Returns another condition for which the concatenation of the fields is the same text. */
function twinOf(condition: ConditionDefinition, choice: number): ConditionDefinition {
  const { attribute, operator, value } = condition
  const joined = `${operator} ${attribute}${value}`
  const ends = [...joined.matchAll(/ /g)].map(({ index }) => index)
  const end = ends[choice % ends.length] ?? 0
  const start = end + 1
  return {
    ...condition,
    operator: joined.slice(0, end),
    attribute: joined.slice(start, start + attribute.length),
    value: joined.slice(start + attribute.length),
  }
}

/** Pools of a few conditions and their twins. All parts of a definition use the same pool. */
const anyConditions = fc
  .array(fc.tuple(anyCondition, fc.nat()), { minLength: 1, maxLength: 4 })
  .map((all) => fc.constantFrom(...all.flatMap(([each, choice]) => [each, twinOf(each, choice)])))

type Conditions = fc.Arbitrary<ConditionDefinition>

const anySegment = (id: string, conditions: Conditions): fc.Arbitrary<SegmentDefinition> =>
  fc
    .record({ rules: fc.array(conditions, { maxLength: 1 }), force: fc.boolean() })
    .map((changes) => segmentDefinition(id, changes))

const ROLLOUT: RolloutDefinition = {
  ...{ id: 'r', bucketBy: 'user.key', salt: 's', scheme: 'x', strategy: 'percentage' },
  ranges: [{ variationId: 'on', from: 0, to: 100_000 }],
}

const anyFlag = (key: string, id: string, conditions: Conditions): fc.Arbitrary<FlagDefinition> =>
  fc
    .record({
      prerequisites: fc.array(
        anyId.map((flagId) => ({ flagId, variationIds: ['off'] })),
        { maxLength: 1 },
      ),
      rules: fc.array(
        fc
          .record({
            conditions: fc.array(conditions, { maxLength: 2 }),
            segmentId: fc.option(anyId, { freq: 3 }),
            rolloutId: fc.option(fc.constant('r'), { freq: 3 }),
          })
          .map(ruleDefinition),
        { maxLength: 2 },
      ),
    })
    .map((changes) => flagDefinition(key, { ...changes, id, rollouts: [ROLLOUT] }))

const anyDefinition: fc.Arbitrary<FlagSetDefinition> = fc
  .tuple(
    fc.uniqueArray(anyName, { minLength: 1, maxLength: 6 }),
    fc.uniqueArray(anyName, { minLength: 6, maxLength: 6 }),
    fc.uniqueArray(anyName, { maxLength: 4 }),
    anyConditions,
  )
  .chain(([keys, ids, segmentIds, conditions]) =>
    fc.record({
      version: fc.constant(1),
      flags: fc.tuple(...keys.map((key, index) => anyFlag(key, ids[index] ?? '', conditions))),
      segments: fc.tuple(...segmentIds.map((id) => anySegment(id, conditions))),
    }),
  )

/** Returns all texts that can be references of a condition. Superfluous ones do no harm. */
function textsIn({ attribute, value }: ConditionDefinition): readonly string[] {
  return [attribute, value]
}

/** Returns a definition of one flag with its direct and indirect references. */
function alone({ version, flags, segments }: FlagSetDefinition, key: string): FlagSetDefinition {
  const keys = new Set([key])
  const segmentIds = new Set<string>()
  const all = [...flags, ...segments]
  for (let size = -1; size !== keys.size + segmentIds.size; ) {
    size = keys.size + segmentIds.size
    for (const part of all) {
      const isFlag = 'type' in part
      if (isFlag ? !keys.has(part.key) : !segmentIds.has(part.id)) continue
      const conditions = isFlag ? part.rules.flatMap((rule) => rule.conditions) : part.rules
      for (const text of conditions.flatMap(textsIn)) {
        keys.add(text)
        segmentIds.add(text)
      }
      if (!isFlag) continue
      for (const { segmentId } of part.rules) if (segmentId !== null) segmentIds.add(segmentId)
      for (const { flagId } of part.prerequisites) {
        for (const other of flags) if (other.id === flagId) keys.add(other.key)
      }
    }
  }
  return {
    version,
    flags: flags.filter((flag) => keys.has(flag.key)),
    segments: segments.filter(({ id }) => segmentIds.has(id)),
  }
}

describe('Flags, segments and conditions with similar names', () => {
  it('Every flag has the same result and the same faults as in a flag set of its own', () => {
    const numRuns = runs(5_000, 1000)
    const reasons = new Map<string, number>()
    fc.assert(
      fc.property(anyDefinition, (definition) => {
        const flagSet = compileFlagSet(definition)
        const together = detailsOf(evaluateTogether(flagSet, USER, NOW))
        const issues = findIssues(flagSet)
        expect(together.length).toBe(definition.flags.length)
        for (const detail of together) {
          const { flagKey, reason } = detail
          const single = compileFlagSet(alone(definition, flagKey))
          expect(detail).toEqual(evaluateFlag(single, flagKey, USER, NOW))
          const isOwn = (issue: { readonly flagKey?: string }) => issue.flagKey === flagKey
          expect(issues.filter(isOwn)).toEqual(findIssues(single).filter(isOwn))
          reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
        }
      }),
      { numRuns },
    )
    for (const reason of ['TARGETING_MATCH', 'STATIC', 'DEFAULT', 'ERROR']) {
      expect(reasons.get(reason)).toBeGreaterThan(numRuns / 200)
    }
  })
})
