import type { Invoice, Plan } from '@ff/protocol/management'
import type { Records } from '@ff/storage'
import type { RecordWriter } from '../changes/record-writer.ts'
import { dayOfMonth, monthAfter } from './billing-period.ts'
import { drawInvoice } from './invoices.ts'

type Organization = Records['organization']

/** The plan that an organization is to have from now on. */
export interface PlanTerms {
  /** `null`: none. */
  readonly plan: Plan | null
  /** `null` unless the plan is only tried. */
  readonly trial: Trial | null
}

export interface Trial {
  readonly startsAt: string
  readonly endsAt: string
}

const NO_PERIOD = { periodStart: null, periodDay: null, currentPeriodEnd: null } as const
const NO_TRIAL = { trialStartsAt: null, trialEndsAt: null } as const

/**
 * Gives an organization another plan, takes its plan away, or lets it try one, and answers the
 * organization as it now is. Taking the first plan begins a period; from one plan to another the
 * period and its usage go on; what ends a period draws up its invoice.
 */
export async function changePlan(
  writer: RecordWriter,
  before: Organization,
  { plan, trial }: PlanTerms,
): Promise<Organization> {
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

/** Of a trial that was running already, the usage goes on. */
function tryingFields({ trialStartsAt }: Organization, { startsAt, endsAt }: Trial) {
  const fields = { trialStartsAt: startsAt, trialEndsAt: endsAt, hasUsedPaidTrial: true }
  return startsAt === trialStartsAt ? fields : { ...fields, apiUsage: 0 }
}

/** Ends the period that has ended, if there is one: draws up its invoice and begins the next. */
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

/** The same for as many as have ended. */
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
