import { FlagError } from '@ff/core'
import type { Invoice, Plan } from '@ff/protocol/management'
import type { Records } from '@ff/storage'
import type { RecordWriter } from '../changes/record-writer.ts'
import { dayOfMonth, monthAfter } from './billing-period.ts'
import { drawInvoice } from './invoices.ts'

type Organization = Records['organization']

/** The new plan of an organization. */
export interface PlanTerms {
  /** The new plan; `null` to remove the current plan. */
  readonly plan: Plan | null
  /** The trial of the plan; `null` if the plan is not on trial. */
  readonly trial: Trial | null
}

/** The start and the end of a trial, as timestamps. */
export interface Trial {
  readonly startsAt: string
  readonly endsAt: string
}

const NO_PERIOD = { periodStart: null, periodDay: null, currentPeriodEnd: null } as const
const NO_TRIAL = { trialStartsAt: null, trialEndsAt: null } as const

/**
 * Sets the plan of an organization with its whole usage, removes the plan, or starts a trial, and
 * returns the changed organization. The first plan begins a billing period. If one plan replaces
 * another, the current period and its usage continue. If a period ends, its invoice is drawn up.
 * Throws `CONFLICT` if the plan is deleted concurrently.
 */
export async function changePlan(
  writer: RecordWriter,
  before: Organization,
  { plan, trial }: PlanTerms,
): Promise<Organization> {
  if (plan !== null && (await writer.hold('plan', plan.id)) === undefined) {
    throw new FlagError('CONFLICT', `The plan "${plan.name}" was deleted.`)
  }
  const organization = await closeDuePeriods(writer, before)
  const hasPeriod = organization.periodStart !== null
  const planId = plan?.id ?? null
  const isTaken = plan !== null && trial === null
  if (isTaken && hasPeriod) return writer.update('organization', organization, { planId })
  if (hasPeriod) await drawInvoice(writer, organization, writer.now)
  return writer.update('organization', organization, {
    planId,
    ...(hasPeriod && { apiUsage: 0 }),
    ...(isTaken ? firstPeriod(writer.now) : NO_PERIOD),
    ...(trial === null ? NO_TRIAL : tryingFields(organization, trial)),
  })
}

/** Returns the fields of a trial. The usage is reset unless the trial is running already. */
function tryingFields({ trialStartsAt }: Organization, { startsAt, endsAt }: Trial) {
  const fields = { trialStartsAt: startsAt, trialEndsAt: endsAt, hasUsedPaidTrial: true }
  return startsAt === trialStartsAt ? fields : { ...fields, apiUsage: 0 }
}

/**
 * Closes the current period of an organization with its whole usage if its end has passed: draws up
 * its invoice and begins the next period. Returns `undefined` if the period has not ended.
 */
export async function closeDuePeriod(
  writer: RecordWriter,
  organization: Organization,
  now = writer.now,
): Promise<{ readonly organization: Organization; readonly invoice: Invoice } | undefined> {
  const { currentPeriodEnd: end, periodDay } = organization
  if (end === null || end > now) return undefined
  const invoice = await drawInvoice(writer, organization, end)
  const after = await writer.update('organization', organization, {
    periodStart: end,
    currentPeriodEnd: monthAfter(end, periodDay ?? dayOfMonth(end)),
    apiUsage: 0,
  })
  return { organization: after, invoice }
}

/** Closes every period that has ended, and returns the changed organization. */
export async function closeDuePeriods(
  writer: RecordWriter,
  before: Organization,
  now = writer.now,
): Promise<Organization> {
  const closed = await closeDuePeriod(writer, before, now)
  return closed === undefined ? before : closeDuePeriods(writer, closed.organization, now)
}

function firstPeriod(now: string) {
  const periodDay = dayOfMonth(now)
  const currentPeriodEnd = monthAfter(now, periodDay)
  return { periodStart: now, periodDay, currentPeriodEnd, apiUsage: 0 }
}
