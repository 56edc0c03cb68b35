import assert from 'node:assert/strict'

// #region definition
import {
  compileFlagSet,
  evaluateFlag,
  evaluateValue,
  type FlagSetDefinition,
  parseContext,
} from '@ff/core'
import { detailsOf, evaluateAll, jsonOf, valuesOf } from '@ff/core/all-flags'
import { evaluateDetail, explainFlag } from '@ff/core/explain'

const definition: FlagSetDefinition = {
  version: 1,
  segments: [],
  flags: [
    {
      id: 'flag-1',
      key: 'new-checkout',
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
      rules: [
        {
          id: 'rule-1',
          orderIndex: 0,
          createdAt: '2030-01-01T00:00:00.000Z',
          conditions: [{ attribute: 'plan', operator: 'in', value: '["pro","team"]' }],
          segmentId: null,
          variationId: null,
          rolloutId: 'rollout-1',
        },
      ],
      rollouts: [
        {
          id: 'rollout-1',
          strategy: 'percentage',
          bucketBy: 'user.key',
          salt: 'checkout',
          scheme: 'ff',
          ranges: [{ variationId: 'on', from: 0, to: 25_000 }], // 25 %
        },
      ],
    },
  ],
}
// #endregion

// #region evaluate
const flagSet = compileFlagSet(definition) // after each change; a previous set can be passed for reuse
const context = parseContext({ kind: 'user', key: 'user-1', plan: 'pro' }) // throws if it is invalid
const now = Date.now() // the engine has no clock

evaluateValue(flagSet, 'new-checkout', context, now) // one value: true
evaluateFlag(flagSet, 'new-checkout', context, now) // one detail: reason SPLIT, rule, bucket, …
const evaluation = evaluateAll(flagSet, context, now) // all flags; evaluateSome for some of them
valuesOf(evaluation) // { 'new-checkout': true }
jsonOf(evaluation) // the same as JSON text
detailsOf(evaluation) // a detail for each flag
evaluateDetail(flagSet, 'new-checkout', context, now) // with version, prerequisite chain and attributes read
explainFlag(flagSet, 'new-checkout', context, now) // one detail and the steps of its evaluation
// #endregion

assert.equal(jsonOf(evaluation), '{"new-checkout":true}')
const { detail, steps } = explainFlag(flagSet, 'new-checkout', context, now)
assert.deepEqual([detail.reason, detail.bucket], ['SPLIT', 17_502])

const served = (key: string, plan: string) =>
  evaluateValue(flagSet, 'new-checkout', parseContext({ kind: 'user', key, plan }), now)
assert.equal(served('user-2', 'pro'), false) // bucket 88,313 is outside the 25 %
assert.equal(served('user-1', 'free'), false) // the rule does not match

for (const step of steps) console.log(step.text)
