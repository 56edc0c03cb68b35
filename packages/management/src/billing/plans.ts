import {
  DEFAULT_OVERAGE_BLOCK_SIZE,
  endpoints,
  type NewPlan,
  type Plan,
} from '@ff/protocol/management'
import { loadPermitted } from '../access/access-request.ts'
import { loadCatalogue, loadPlanPath } from '../access/organization-paths.ts'
import { changeEvent } from '../audit/change-event.ts'
import { applyChange } from '../changes/apply-change.ts'
import { assertUnused, type Dependent } from '../changes/dependents.ts'
import type { Management } from '../changes/management.ts'
import type { NewRecord, Reader } from '../changes/record-writer.ts'
import type { Input } from '../requests/input.ts'

const MOST_NAMED = 10

/** All plans, by name. */
export async function listPlans(management: Management): Promise<Plan[]> {
  const { permission } = endpoints.listPlans
  await loadPermitted(management, { permission, load: loadCatalogue, params: {} })
  const sort = { field: 'name', direction: 'asc' } as const
  return [...(await management.storage.list('plan', { sort })).data]
}

/** A plan. */
export async function getPlan(
  management: Management,
  { params }: Input<'getPlan', 'params'>,
): Promise<Plan> {
  const { permission } = endpoints.getPlan
  return (await loadPermitted(management, { permission, load: loadPlanPath, params })).plan
}

/** A new plan; only the platform makes any. */
export async function createPlan(
  management: Management,
  { body }: { readonly body: NewPlan },
): Promise<Plan> {
  const { permission } = endpoints.createPlan
  const request = { permission, load: loadCatalogue, params: {} }
  return applyChange(management, request, async (writer) => {
    const plan = await writer.insert('plan', toRecord(body))
    const event = changeEvent('plan.created', plan.id, { before: null, after: plan })
    return { event, result: plan }
  })
}

/** Changes a plan, at once and for every organization that has it. */
export async function updatePlan(
  management: Management,
  { params, body, expectedRevision }: Input<'updatePlan', 'params' | 'body' | 'expectedRevision'>,
): Promise<Plan> {
  const { permission } = endpoints.updatePlan
  const request = { permission, load: loadPlanPath, params }
  return applyChange(management, request, async (writer, { plan: before }) => {
    const after = await writer.update('plan', before, body, expectedRevision)
    const event = changeEvent('plan.updated', before.id, { before, after })
    return { event, result: after }
  })
}

/** Deletes a plan that no organization has. */
export async function deletePlan(
  management: Management,
  { params, expectedRevision }: Input<'deletePlan', 'params' | 'expectedRevision'>,
): Promise<null> {
  const { permission } = endpoints.deletePlan
  const request = { permission, load: loadPlanPath, params }
  return applyChange(management, request, async (writer, { plan }) => {
    writer.assertRevision('plan', plan, expectedRevision)
    assertUnused('plan', await findDependentsOfPlan(writer.reader, plan))
    await writer.remove('plan', plan)
    const event = changeEvent('plan.deleted', plan.id, { before: plan, after: null })
    return { event, result: null }
  })
}

/** Some of the organizations that have the plan: there may be thousands. */
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
