import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { createPromotionScene } from './promotion-scene.ts'

describe('Promotion of a flag', () => {
  it('A promotion copies rules with any order indices, even equal ones, without changing results', async () => {
    const anyRule = fc.record({
      name: fc.constantFrom('a', 'b'),
      order_index: fc.nat({ max: 1 }),
      variation: fc.constantFrom('x', 'y', 'z'),
      isSplit: fc.boolean(),
      plan: fc.constantFrom('pro', 'free', null),
    })
    const anyRules = fc.array(anyRule, { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(anyRules, anyRules, async (staged, lived) => {
        const { tenant, promote, idOf, addRollout, addRule, answersIn } =
          await createPromotionScene()
        for (const [environment, rules] of [
          [tenant.staging, staged],
          [tenant.live, lived],
        ] as const) {
          for (const { name, order_index, variation, isSplit, plan } of rules) {
            const rollout = isSplit ? await addRollout(environment, { name }) : null
            await addRule(environment, {
              ...{ name, order_index, rollout_id: rollout?.id ?? null },
              variation_id: idOf(variation),
              conditions: plan === null ? [] : [{ attribute: 'plan', operator: 'eq', value: plan }],
            })
          }
        }
        expect((await promote()).status).toBe(200)
        expect(await answersIn(tenant.live)).toEqual(await answersIn(tenant.staging))
        expect((await promote()).data.differences).toEqual([])
      }),
      { numRuns: runs(60) },
    )
  })
})
