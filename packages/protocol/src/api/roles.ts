import * as z from 'zod'

/** A role in one organization; `platform` administers the whole installation. */
export const role = z.enum(['platform', 'owner', 'admin', 'editor', 'viewer'])
/** The name of a role. */
export type Role = z.output<typeof role>

/** The roles that a member can have in an organization. */
export const memberRole = role.exclude(['platform'])

/** A permission that an endpoint requires. */
export type Permission =
  /** Read the organization, its members, tokens and projects, and everything in its projects. */
  | 'configuration.read'
  /** Change flags, variations, targeting rules, rollouts and segments. */
  | 'flags.write'
  /** Change projects, environments and SDK keys. */
  | 'projects.write'
  /** Create and delete access tokens with at most the caller's role. */
  | 'tokens.write'
  /** Add, change and remove members with at most the caller's role. */
  | 'members.write'
  /** Create, change and delete the webhooks of the organization. */
  | 'webhooks.write'
  /** Change the name, billing address and metadata of the organization. */
  | 'organization.write'
  /** Delete the organization and everything in it. */
  | 'organization.delete'
  /** Create organizations. */
  | 'organizations.create'
  /** Read invoices and billing data. */
  | 'billing.read'
  /** Choose and pay for a plan at the payment provider. */
  | 'billing.write'
  /** List plans. */
  | 'plans.read'
  /** Change plans, and assign them to organizations. */
  | 'plans.write'
  /** Read the audit log. */
  | 'audit.read'
  /** Delete observed contexts permanently. */
  | 'contexts.forget'

const VIEWER: readonly Permission[] = ['configuration.read', 'audit.read', 'plans.read']
const EDITOR: readonly Permission[] = [...VIEWER, 'flags.write']
const ADMIN: readonly Permission[] = [
  ...EDITOR,
  'projects.write',
  'tokens.write',
  'members.write',
  'webhooks.write',
  'organization.write',
  'contexts.forget',
]
const OWNER: readonly Permission[] = [
  ...ADMIN,
  'organization.delete',
  'billing.read',
  'billing.write',
]

/**
 * The permissions of each role in its organization, from the lowest role to the highest. The role
 * `platform` has its permissions in all organizations.
 */
export const ROLE_PERMISSIONS: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: VIEWER,
  editor: EDITOR,
  admin: ADMIN,
  owner: OWNER,
  platform: [...OWNER, 'organizations.create', 'plans.write'],
}

const ROLES_UPWARD = Object.keys(ROLE_PERMISSIONS) as readonly Role[]

/** Returns `true` if a role has a permission in its organization. */
export function hasPermission(role: Role, permission: Permission): boolean {
  return ROLE_PERMISSIONS[role].includes(permission)
}

/** Returns the roles with a permission, from the lowest role to the highest. */
export function rolesWith(permission: Permission): readonly Role[] {
  return ROLES_UPWARD.filter((role) => hasPermission(role, permission))
}

/** Returns `true` if `role` is equal to `limit` or lower. */
export function isRoleWithin(role: Role, limit: Role): boolean {
  return ROLES_UPWARD.indexOf(role) <= ROLES_UPWARD.indexOf(limit)
}
