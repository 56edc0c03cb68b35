import { DEFAULT_OVERAGE_BLOCK_SIZE, type NewPlan, type Plan } from '@ff/protocol/management'
import { completed } from '../changes/change-event.ts'
import { assertUnused, type Dependent } from '../changes/dependents.ts'
import type { NewRecord, Reader } from '../changes/record-writer.ts'
import { defineQuery, defineUseCases } from '../changes/use-case.ts'

const MOST_NAMED = 10

/** The use cases of plans. */
export const planUseCases = {
  /** Returns all plans, sorted by name. */
  listPlans: defineQuery('listPlans', {
    load: () => ({ catalogue: true }),
    async run({ storage }) {
      const sort = { field: 'name', direction: 'asc' } as const
      return [...(await storage.list('plan', { sort })).data]
    },
  }),

  ...defineUseCases({
    /** Returns a plan. */
    getPlan: async ({ plan }) => plan,

    /** Creates a plan. Requires the role `platform`. */
    async createPlan({ writer, body }) {
      const plan = await writer.insert('plan', toRecord(body))
      return completed('plan.created', { after: plan })
    },

    /** Changes a plan, with immediate effect for every organization that has the plan. */
    async updatePlan({ writer, plan: before, body, expectedRevision }) {
      const after = await writer.update('plan', before, body, expectedRevision)
      return completed('plan.updated', { before, after })
    },

    /** Deletes a plan. Throws `CONFLICT` if an organization has the plan. */
    async deletePlan({ writer, plan, expectedRevision }) {
      await writer.remove('plan', plan, expectedRevision)
      assertUnused('plan', await findDependentsOfPlan(writer.reader, plan))
      return completed('plan.deleted', { before: plan })
    },
  }),
}

/** Returns the ids of a plan's prices at the payment provider; `null` for each missing price. */
export function priceIdsOf(plan: Plan): readonly (string | null)[] {
  return [plan.stripePriceId, plan.stripeMonthlyPriceId, plan.stripeAnnualPriceId]
}

/** Returns at most ten of the organizations that have the plan, because there can be thousands. */
async function findDependentsOfPlan(
  reader: Reader,
  { id: planId }: Plan,
): Promise<readonly Dependent[]> {
  const sort = { field: 'name', direction: 'asc' } as const
  const found = await reader.list('organization', { where: { planId }, sort, limit: MOST_NAMED })
  return found.data.map(({ id, name }) => ({ resource: 'organization', id, name }))
}

function toRecord(body: NewPlan): NewRecord<'plan'> {
  return {
    name: body.name,
    maxProjects: body.maxProjects ?? null,
    maxFlags: body.maxFlags ?? null,
    maxEnvironments: body.maxEnvironments ?? null,
    maxApiCalls: body.maxApiCalls ?? null,
    maxObservedContexts: body.maxObservedContexts ?? null,
    maxObservedContextBytes: body.maxObservedContextBytes ?? null,
    trialDays: body.trialDays ?? null,
    mostPopular: body.mostPopular ?? false,
    productLink: body.productLink ?? null,
    stripeProductId: body.stripeProductId ?? null,
    stripePriceId: body.stripePriceId ?? null,
    stripeMonthlyPriceId: body.stripeMonthlyPriceId ?? null,
    stripeAnnualPriceId: body.stripeAnnualPriceId ?? null,
    overageRateEurCents: body.overageRateEurCents ?? 0,
    overageBlockSize: body.overageBlockSize ?? DEFAULT_OVERAGE_BLOCK_SIZE,
    graceBufferPct: body.graceBufferPct ?? 0,
  }
}
