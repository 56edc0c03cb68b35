import { FlagError } from '@ff/core'
import type { AuditEventType, Organization, Permission, Plan } from '@ff/protocol/management'
import type { StorageSession } from '@ff/storage'

/** The properties of a change that the limits of plans depend on. */
export interface PlannedChange {
  readonly permission: Permission
  readonly eventType: AuditEventType
  /** Returns the change in the number of records of a kind; negative if there are fewer. */
  growthOf(kind: 'project' | 'environment' | 'flag'): number
  readonly now: string
}

/**
 * The state of an organization's trial. `over`: the trial has ended, and no plan was taken after
 * it.
 */
export type TrialState = 'none' | 'running' | 'over'

/** The kinds that plans limit, with the fields of their counts and limits. */
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

/** The types of events that only remove something, which is allowed without a plan. */
const TAKING_AWAY = /\.(deleted|removed|revoked)$/

/**
 * Throws `QUOTA_EXCEEDED` with the name of the limit if a change would exceed a limit of the
 * organization's plan, or if the organization's trial is over. Must be called in the transaction of
 * the change, with the organization as it was before the change. Without a plan, nothing is
 * limited. The records that exist already can exceed a limit, for example after a change of the
 * plan.
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
    const message = `The plan "${plan.name}" allows ${allowed} ${kind}s (${limit}); the result would be ${wanted}.`
    throw quotaExceeded(message, { limit, maximum: allowed, count: organization[count] })
  }
}

/**
 * Updates the organization's numbers of projects, environments and flags, in the transaction that
 * adds or deletes them. The lock of the organization prevents concurrent updates. The revision of
 * the organization is unchanged, because callers do not change these numbers directly.
 */
export async function updateCounts(
  session: StorageSession,
  organization: Organization | null,
  growthOf: PlannedChange['growthOf'],
): Promise<void> {
  const more = {
    projectCount: growthOf('project'),
    environmentCount: growthOf('environment'),
    flagCount: growthOf('flag'),
  }
  if (organization === null || Object.values(more).every((number) => number === 0)) return
  const { id, projectCount, environmentCount, flagCount } = organization
  if ((await session.find('organization', id)) === undefined) return
  await session.update('organization', id, {
    projectCount: projectCount + more.projectCount,
    environmentCount: environmentCount + more.environmentCount,
    flagCount: flagCount + more.flagCount,
  })
}

/** Returns the plan of an organization; `undefined` if it has none. */
export async function findPlan(
  session: Pick<StorageSession, 'find'>,
  { planId }: Organization,
): Promise<Plan | undefined> {
  return planId === null ? undefined : session.find('plan', planId)
}

/**
 * Returns the state of an organization's trial. Taking a plan sets `trialEndsAt` to `null`, so any
 * other value means that no plan was taken.
 */
export function trialStateOf({ trialEndsAt }: Organization, now: string): TrialState {
  if (trialEndsAt === null) return 'none'
  return now < trialEndsAt ? 'running' : 'over'
}

/**
 * Throws `QUOTA_EXCEEDED` if the trial is over. Allows the changes that are necessary to take a
 * plan, and changes that only remove something.
 */
function assertTrialNotOver(
  organization: Organization,
  { permission, eventType, now }: PlannedChange,
): void {
  if (trialStateOf(organization, now) !== 'over') return
  if (permission === 'billing.write' || permission === 'plans.write') return
  if (eventType === 'organization.updated' || TAKING_AWAY.test(eventType)) return
  const ended = `${organization.planId === null ? 'subscription' : 'trial'} ended`
  const message = `The ${ended} at ${organization.trialEndsAt}. Choose a plan to make changes.`
  throw quotaExceeded(message, { limit: 'trial_days' })
}

function quotaExceeded(message: string, details: Readonly<Record<string, string | number>>) {
  const code = 'QUOTA_EXCEEDED'
  return new FlagError(code, message, { details: { code, ...details } })
}
