import { FlagError } from '@ff/core'
import type { Organization, Plan } from '@ff/protocol/management'
import type { Records } from '@ff/storage'
import { withApiUsage } from '../changes/api-usage.ts'
import { type CompletedChange, completed } from '../changes/change-event.ts'
import { findPlan, trialStateOf } from '../changes/quotas.ts'
import type { Reader } from '../changes/record-writer.ts'
import { defineChange, defineUseCases } from '../changes/use-case.ts'
import { invalid } from '../requests/validation.ts'
import { daysAfter } from './billing-period.ts'
import { overageOf } from './overage.ts'
import { changePlan, type Trial } from './plan-change.ts'
import { priceIdsOf } from './plans.ts'

/** The use cases of subscriptions. */
export const subscriptionUseCases = {
  ...defineUseCases({
    /** Returns the usage of an organization and the limits of its plan. */
    async getOrganizationUsage({ storage, now, organization: stored }) {
      const [organization = stored] = await withApiUsage(storage, [stored])
      const { apiUsage, periodStart, currentPeriodEnd, trialStartsAt, trialEndsAt } = organization
      const plan = await findPlan(storage, organization)
      const trial = trialStateOf(organization, new Date(now).toISOString())
      // A trial is free, regardless of the usage.
      const terms = trial === 'none' ? plan : plan && { ...plan, overageRateEurCents: 0 }
      const { freeCalls, blocks, eurCents } = overageOf(terms, apiUsage)
      return {
        planId: plan?.id ?? null,
        projectCount: organization.projectCount,
        maxProjects: plan?.maxProjects ?? null,
        environmentCount: organization.environmentCount,
        maxEnvironments: plan?.maxEnvironments ?? null,
        flagCount: organization.flagCount,
        maxFlags: plan?.maxFlags ?? null,
        apiUsage,
        maxApiCalls: plan?.maxApiCalls ?? null,
        maxObservedContexts: plan?.maxObservedContexts ?? null,
        maxObservedContextBytes: plan?.maxObservedContextBytes ?? null,
        graceBufferPct: plan?.graceBufferPct ?? 0,
        freeApiCalls: freeCalls,
        overageBlocks: blocks,
        overageEurCents: eurCents,
        periodStart: periodStart ?? trialStartsAt,
        periodEnd: currentPeriodEnd ?? trialEndsAt,
        trial,
      }
    },
  }),

  /** Sets the plan of an organization, starts a trial, or removes the plan. */
  setOrganizationPlan: defineChange('setOrganizationPlan', {
    // The calls before the change belong to the period before it.
    prepare: ({ services }) => services.instance.writeUsage(),
    async run(argument): Promise<CompletedChange<Organization>> {
      const { writer, organization, body, expectedRevision } = argument
      const before = await writer.addPendingCalls(organization)
      writer.assertRevision('organization', before, expectedRevision)
      const plan = await requirePlan(writer.reader, body.planId)
      const trial = body.trial === true ? trialOf(before, plan, writer.now) : null
      const after = await changePlan(writer, before, { plan, trial })
      return completed('organization.plan_changed', { before, after })
    },
  }),
}

/**
 * Returns the plan with this id, or with this product id or price id at the payment provider;
 * `null` if `identifier` is `null`. Throws `INVALID_REQUEST` unless exactly one plan matches.
 */
async function requirePlan(reader: Reader, identifier: string | null): Promise<Plan | null> {
  if (identifier === null) return null
  const known = await reader.find('plan', identifier.toLowerCase())
  if (known !== undefined) return known
  const [plan, ...others] = (await reader.list('plan', {})).data.filter((each) =>
    [each.stripeProductId, ...priceIdsOf(each)].includes(identifier),
  )
  if (plan !== undefined && others.length === 0) return plan
  const fault = plan === undefined ? 'must be the id of a plan' : 'must not match several plans'
  throw invalid('plan_id', fault)
}

/**
 * Returns a trial that starts now, or the running trial of the same plan. Throws `INVALID_REQUEST`
 * if the plan has no trial, and `CONFLICT` if the organization has used its trial.
 */
function trialOf(organization: Records['organization'], plan: Plan | null, now: string): Trial {
  if (plan === null || !plan.trialDays) throw invalid('trial', 'requires a plan with trial_days')
  const { trialStartsAt, trialEndsAt } = organization
  const isRunning = trialStateOf(organization, now) === 'running'
  if (isRunning && organization.planId === plan.id && trialStartsAt && trialEndsAt) {
    return { startsAt: trialStartsAt, endsAt: trialEndsAt }
  }
  if (organization.hasUsedPaidTrial) {
    throw new FlagError('CONFLICT', 'The organization has used its trial.')
  }
  return { startsAt: now, endsAt: daysAfter(now, plan.trialDays) }
}
