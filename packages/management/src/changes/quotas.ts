import { FlagError } from '@ff/core'
import type { AuditEventType, Organization, Permission, Plan } from '@ff/protocol/management'
import type { StorageSession } from '@ff/storage'

/** What a change does, as far as plans are concerned. */
export interface PlannedChange {
  readonly permission: Permission
  readonly eventType: AuditEventType
  /** How many more things of a kind there are afterwards. */
  growthOf(kind: 'project' | 'environment' | 'flag'): number
  readonly now: string
}

/** Where an organization stands with a trial; `over`: it ended, and no plan was taken. */
export type TrialState = 'none' | 'running' | 'over'

/** What is counted for a plan. */
const COUNTED = [
  { kind: 'project', count: 'projectCount', maximum: 'maxProjects', limit: 'max_projects' },
  {
    kind: 'environment',
    count: 'environmentCount',
    maximum: 'maxEnvironments',
    limit: 'max_environments',
  },
  { kind: 'flag', count: 'flagCount', maximum: 'maxFlags', limit: 'max_flags' },
] as const

/** What only takes something away may be done with or without a plan. */
const TAKING_AWAY = /\.(deleted|removed|revoked)$/

/**
 * Throws `QUOTA_EXCEEDED`, naming the limit, when a change would make more of something than the
 * organization's plan allows, or when its trial is over. To be asked in the transaction of the
 * change, with the organization as it was before. Nothing is limited without a plan; what is
 * beyond a limit already may stay.
 */
export async function assertWithinPlan(
  session: Pick<StorageSession, 'find'>,
  organization: Organization | null,
  change: PlannedChange,
): Promise<void> {
  if (organization === null) return
  assertTrialNotOver(organization, change)
  const growing = COUNTED.filter(({ kind }) => change.growthOf(kind) > 0)
  const plan = growing.length === 0 ? undefined : await findPlan(session, organization)
  if (plan === undefined) return
  for (const { kind, count, maximum, limit } of growing) {
    const allowed = plan[maximum]
    const wanted = organization[count] + change.growthOf(kind)
    if (allowed === null || wanted <= allowed) continue
    const message = `The plan "${plan.name}" allows ${allowed} ${kind}s (${limit}); this would make ${wanted}.`
    throw quotaExceeded(message, { limit, maximum: allowed, count: organization[count] })
  }
}

/** The plan of an organization, if it has one. */
export async function findPlan(
  session: Pick<StorageSession, 'find'>,
  { planId }: Organization,
): Promise<Plan | undefined> {
  return planId === null ? undefined : session.find('plan', planId)
}

/** Taking a plan ends a trial and forgets when it was, so a trial that has an end is still one. */
export function trialStateOf({ trialEndsAt }: Organization, now: string): TrialState {
  if (trialEndsAt === null) return 'none'
  return now < trialEndsAt ? 'running' : 'over'
}

/** What it takes to have a plan again may be done, and what only takes something away. */
function assertTrialNotOver(
  organization: Organization,
  { permission, eventType, now }: PlannedChange,
): void {
  if (trialStateOf(organization, now) !== 'over') return
  if (permission === 'billing.write' || permission === 'plans.write') return
  if (eventType === 'organization.updated' || TAKING_AWAY.test(eventType)) return
  const ended = `${organization.planId === null ? 'subscription' : 'trial'} ended`
  const message = `The ${ended} at ${organization.trialEndsAt}: take a plan to change anything.`
  throw quotaExceeded(message, { limit: 'trial_days' })
}

function quotaExceeded(message: string, details: Readonly<Record<string, string | number>>) {
  const code = 'QUOTA_EXCEEDED'
  return new FlagError(code, message, { details: { code, ...details } })
}
