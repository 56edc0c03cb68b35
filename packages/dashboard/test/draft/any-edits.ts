import fc from 'fast-check'
import type { Configuration } from '../../src/draft/configuration.ts'
import { type ConfigurationEdit, withConfigurationEdit } from '../../src/draft/flag-draft.ts'
import { anyCondition, anySettings, anyVariation, ids } from './any-configuration.ts'

const type = <const T extends string>(name: T) => fc.constant(name)
const ruleId = fc.nat({ max: 3 }).map(ids.rule)
const rolloutId = fc.nat({ max: 3 }).map(ids.rollout)
const flagId = fc.constantFrom(ids.flag(0), ids.flag(1))
const name = fc.constantFrom('One', 'Two', 'Three')
const index = fc.nat({ max: 3 })
const served = anyVariation
const keys = fc.shuffledSubarray(['a', 'b', 'c', 'd', 'e'], { minLength: 1, maxLength: 2 })
const target = { kind: fc.constantFrom('user', 'company'), variationId: served, keys }

/** Any edit of a configuration of `anyConfiguration`. New rules and rollouts are valid. */
export const anyEdit: fc.Arbitrary<ConfigurationEdit> = fc.oneof(
  fc.record({ type: type('setActive'), isActive: fc.boolean() }),
  fc.record({ type: type('setDefaultVariation'), variationId: fc.option(served) }),
  fc.record({ type: type('setOffVariation'), variationId: fc.option(served) }),
  fc.record({ type: type('addTargetKeys'), ...target }),
  fc.record({ type: type('removeTargetKeys'), ...target }),
  fc.record({
    type: type('setPrerequisite'),
    flagId,
    variationIds: fc.tuple(served).map((all) => all),
  }),
  fc.record({ type: type('removePrerequisite'), flagId }),
  fc.record({
    type: type('addRule'),
    rule: fc.record({ name, variationId: served }),
    index,
  }),
  fc.record({
    type: type('addRule'),
    rule: fc.record({ name }),
    rollout: fc.record({ id: fc.uuid(), variationId: served }),
  }),
  fc.record({ type: type('removeRule'), ruleId }),
  fc.record({ type: type('moveRule'), ruleId, index }),
  fc.record({ type: type('renameRule'), ruleId, name }),
  fc.record({
    type: type('setRuleSegment'),
    ruleId,
    segmentId: fc.option(fc.constantFrom(ids.segment(0), ids.segment(1))),
  }),
  fc.record({ type: type('addCondition'), ruleId, condition: anyCondition }),
  fc.record({ type: type('removeCondition'), ruleId, index: fc.nat({ max: 1 }) }),
  fc.record({ type: type('serveVariation'), ruleId, variationId: served }),
  fc.record({ type: type('serveRollout'), ruleId, variationId: served }),
  fc.record({ type: type('serveRollout'), ruleId, rolloutId }),
  fc.record({ type: type('setRollout'), rolloutId, changes: fc.record({ name }) }),
  fc.record({
    type: type('setRollout'),
    rolloutId,
    changes: fc.record({ bucketBy: fc.constantFrom('user.key', 'team.key') }),
  }),
  fc.record({ type: type('setRollout'), rolloutId, changes: anySettings }),
  fc.record({
    type: type('setStrategy'),
    rolloutId,
    strategy: fc.constantFrom('percentage' as const, 'variant' as const, 'gradual' as const),
  }),
)

/** Returns a configuration after edits. `side` makes the ids of new rules and rollouts unique. */
export function afterEdits(
  configuration: Configuration,
  edits: readonly ConfigurationEdit[],
  side: number,
): Configuration {
  let count = 0
  const newId = () => `0000001${side}-0000-4000-8000-00000000000${++count}`
  return edits.reduce((after, edit) => withConfigurationEdit(after, edit, newId), configuration)
}
