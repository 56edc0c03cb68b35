import { bench, describe } from 'vitest'
import { flagSetRoot } from '../src/flag-set-root.ts'
import { flagDefinition, ruleDefinition, segmentDefinition } from '../test/definitions.ts'

const conditions = [{ attribute: 'plan', operator: 'in', value: '["pro","team"]' }]
const rules = Array.from({ length: 5 }, (_, at) => ruleDefinition({ id: `rule-${at}`, conditions }))
const flags = Array.from({ length: 1000 }, (_, at) => flagDefinition(`flag-${at}`, { rules }))
const keys = Array.from({ length: 100_000 }, (_, at) => `customer-number-${at + 100_000_000}`)
const segment = segmentDefinition('large', { included: keys })
const { included: _, excluded: _excluded, ...properties } = segment
const definition = { version: 1, flags, segments: [segment] }

const root = flagSetRoot(definition)
const changedFlag = flagDefinition('flag-7', { rules, isActive: false })
const changedFlags = flags.map((flag) => (flag.id === changedFlag.id ? changedFlag : flag))
const none = { added: [], removed: [] }
const changedSegment = {
  id: segment.id,
  definition: properties,
  included: { added: ['another'], removed: [] },
  excluded: none,
}
const longerSegment = { ...segment, included: [...keys, 'another'] }

describe('The root of 1,000 flags and a segment with 100,000 keys', () => {
  bench('the whole flag set', () => {
    flagSetRoot(definition)
  })
  bench('a change of one key (afterChanges)', () => {
    root.afterChanges({ flags: [], segments: [changedSegment] })
  })
  bench('a change of one flag (afterChanges)', () => {
    root.afterChanges({
      flags: [{ id: changedFlag.id, definition: changedFlag }],
      segments: [],
    })
  })
  bench('a change of one flag, found by comparing objects (after)', () => {
    root.after({ ...definition, flags: changedFlags })
  })
  bench('another array with 100,001 keys (after)', () => {
    root.after({ ...definition, segments: [longerSegment] })
  })
})
