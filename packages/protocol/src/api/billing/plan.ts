import * as z from 'zod'
import { changing, creating, deleting, reading } from '../endpoint.ts'
import { record } from '../record.ts'
import { clearable, count, id, name, recordFields } from '../scalars.ts'

/** What organizations may have and use, and what they pay for using more. */
export type Plan = z.output<typeof planCodec>

/** How many API calls a block has, unless a plan says otherwise. */
export const DEFAULT_OVERAGE_BLOCK_SIZE = 1000

/** `null` means unlimited. So far below 2^53 that all arithmetic with it is exact. */
const limit = count.max(1_000_000_000_000).nullable()

/** A page to complete the payment on. */
const link = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .max(2048)
  .nullable()

/** What a payment provider calls something. */
const identifier = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1–255 visible ASCII characters')
  .nullable()

const fields = {
  name,
  maxProjects: limit,
  maxFlags: limit,
  maxEnvironments: limit,
  /** Per period; soft: evaluation never ends. */
  maxApiCalls: limit,
  /** How long the plan may be tried; `null` or 0: not at all. */
  trialDays: count.max(3650).nullable(),
  mostPopular: z.boolean(),
  productLink: link,
  stripeProductId: identifier,
  stripePriceId: identifier,
  stripeMonthlyPriceId: identifier,
  stripeAnnualPriceId: identifier,
  /** The price of each started block of API calls beyond the free ones. */
  overageRateEurCents: count.max(1_000_000),
  /** How many API calls a block has. */
  overageBlockSize: z.int().min(1).max(1_000_000_000),
  /** By how many percent `maxApiCalls` may be exceeded free of charge. */
  graceBufferPct: count.max(1000),
}

/** The codec of `Plan`. */
export const planCodec = record({ id, ...fields, ...recordFields })

const clearableFields = {
  maxProjects: limit.optional(),
  maxFlags: limit.optional(),
  maxEnvironments: limit.optional(),
  maxApiCalls: limit.optional(),
  trialDays: fields.trialDays.optional(),
  productLink: link.optional(),
  stripeProductId: identifier.optional(),
  stripePriceId: identifier.optional(),
  stripeMonthlyPriceId: identifier.optional(),
  stripeAnnualPriceId: identifier.optional(),
}

/** Unless said otherwise nothing is limited, nothing costs and nothing can be tried. */
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

/** The body of `updatePlan`; absent fields stay as they are. */
export type PlanChanges = z.output<typeof planChangesCodec>

/** The codec of `PlanChanges`. */
export const planChangesCodec = record({
  name: name.optional(),
  ...clearableFields,
  mostPopular: clearable(fields.mostPopular, false),
  overageRateEurCents: clearable(fields.overageRateEurCents, 0),
  overageBlockSize: clearable(fields.overageBlockSize, DEFAULT_OVERAGE_BLOCK_SIZE),
  graceBufferPct: clearable(fields.graceBufferPct, 0),
})

const PLANS = '/plan-limits/plans'
const PLAN = `${PLANS}/{planId}` as const
const permission = 'plans.write'

/** The endpoints of plans. */
export const planEndpoints = {
  /** All of them at once: an installation has a handful. */
  listPlans: reading(PLANS, { permission: 'plans.read', response: z.array(planCodec) }),
  createPlan: creating(PLANS, { permission, body: newPlanCodec, response: planCodec }),
  getPlan: reading(PLAN, { permission: 'plans.read', response: planCodec }),
  updatePlan: changing(PLAN, { permission, body: planChangesCodec, response: planCodec }),
  deletePlan: deleting(PLAN, { permission }),
}
