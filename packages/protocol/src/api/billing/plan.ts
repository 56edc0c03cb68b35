import * as z from 'zod'
import { changing, creating, deleting, reading } from '../endpoint.ts'
import { changesOf, record } from '../record.ts'
import { clearable, count, id, name, recordFields } from '../scalars.ts'

/** The limits of organizations and the price of API calls beyond the free API calls. */
export type Plan = z.output<typeof planCodec>

/** The default number of API calls in an overage block. */
export const DEFAULT_OVERAGE_BLOCK_SIZE = 1000

/** A limit; `null` means unlimited. The maximum keeps all arithmetic with limits exact. */
const limit = count.max(1_000_000_000_000).nullable()
const positiveLimit = z.int().min(1).max(1_000_000_000_000).nullable()

/** The URL of a page on which the payment is completed. */
const link = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .max(2048)
  .nullable()

/** An identifier at the payment provider. */
const identifier = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1–255 visible ASCII characters')
  .nullable()

const fields = {
  name,
  maxProjects: limit,
  maxFlags: limit,
  maxEnvironments: limit,
  /** The number of free API calls per period. Evaluation continues beyond this limit. */
  maxApiCalls: limit,
  /** The limits of observed contexts; `null` means the limits of the installation. */
  maxObservedContexts: positiveLimit,
  maxObservedContextBytes: positiveLimit,
  /** The length of a trial in days; `null` or 0 if the plan has no trial. */
  trialDays: count.max(3650).nullable(),
  mostPopular: z.boolean(),
  productLink: link,
  stripeProductId: identifier,
  stripePriceId: identifier,
  stripeMonthlyPriceId: identifier,
  stripeAnnualPriceId: identifier,
  /** The price, in euro cents, of each started block of API calls beyond the free API calls. */
  overageRateEurCents: count.max(1_000_000),
  /** The number of API calls in a block. */
  overageBlockSize: z.int().min(1).max(1_000_000_000),
  /** The percentage by which API calls can exceed `maxApiCalls` free of charge. */
  graceBufferPct: count.max(1000),
}

/** The codec of `Plan`. */
export const planCodec = record({ id, ...fields, ...recordFields })

const clearableFields = {
  maxProjects: limit.optional(),
  maxFlags: limit.optional(),
  maxEnvironments: limit.optional(),
  maxApiCalls: limit.optional(),
  maxObservedContexts: positiveLimit.optional(),
  maxObservedContextBytes: positiveLimit.optional(),
  trialDays: fields.trialDays.optional(),
  productLink: link.optional(),
  stripeProductId: identifier.optional(),
  stripePriceId: identifier.optional(),
  stripeMonthlyPriceId: identifier.optional(),
  stripeAnnualPriceId: identifier.optional(),
}

/** The body of `createPlan`. By default the plan has no limits, no overage price and no trial. */
export type NewPlan = z.output<typeof newPlanCodec>

/** The codec of `NewPlan`. */
export const newPlanCodec = record({
  name,
  ...clearableFields,
  mostPopular: fields.mostPopular.optional(),
  overageRateEurCents: fields.overageRateEurCents.optional(),
  overageBlockSize: fields.overageBlockSize.optional(),
  graceBufferPct: fields.graceBufferPct.optional(),
})

/** The body of `updatePlan`; absent fields stay unchanged. */
export type PlanChanges = z.output<typeof planChangesCodec>

/** The codec of `PlanChanges`. */
export const planChangesCodec = changesOf(
  { id, ...fields, ...recordFields },
  {
    name: name.optional(),
    ...clearableFields,
    mostPopular: clearable(fields.mostPopular, false),
    overageRateEurCents: clearable(fields.overageRateEurCents, 0),
    overageBlockSize: clearable(fields.overageBlockSize, DEFAULT_OVERAGE_BLOCK_SIZE),
    graceBufferPct: clearable(fields.graceBufferPct, 0),
  },
)

const PLANS = '/plan-limits/plans'
const PLAN = `${PLANS}/{planId}` as const
const permission = 'plans.write'

/** The endpoints of plans. */
export const planEndpoints = {
  /** The list has no pages, because an installation has only a few plans. */
  listPlans: reading(PLANS, { permission: 'plans.read', response: z.array(planCodec) }),
  createPlan: creating(PLANS, { permission, body: newPlanCodec, response: planCodec }),
  getPlan: reading(PLAN, { permission: 'plans.read', response: planCodec }),
  updatePlan: changing(PLAN, { permission, body: planChangesCodec, response: planCodec }),
  deletePlan: deleting(PLAN, { permission }),
}
