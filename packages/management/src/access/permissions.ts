import { FlagError } from '@ff/core'
import type { Organization, Permission, Role } from '@ff/protocol/management'
import type { Actor } from './actors.ts'

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
const PLATFORM: readonly Permission[] = [...OWNER, 'organizations.create', 'plans.write']

/** The permissions of each role in its organization; `platform` has them in all. */
const ROLE_PERMISSIONS: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: VIEWER,
  editor: EDITOR,
  admin: ADMIN,
  owner: OWNER,
  platform: PLATFORM,
}

const ROLES_UPWARD: readonly Role[] = ['viewer', 'editor', 'admin', 'owner', 'platform']

/** An actor, and the permission that an access needs. */
export interface Access {
  readonly actor: Actor
  readonly permission: Permission
}

/** Whether a role reaches no higher than another. */
export function isRoleWithin(role: Role, limit: Role): boolean {
  return ROLES_UPWARD.indexOf(role) <= ROLES_UPWARD.indexOf(limit)
}

/** Throws `FORBIDDEN` if an actor would give or take a role above its own. */
export function assertRoleWithin(role: Role, actor: Actor): void {
  if (isRoleWithin(role, actor.role)) return
  const message = `The role ${actor.role} cannot give or take the role ${role}.`
  throw new FlagError('FORBIDDEN', message)
}

/** Returns the roles with a permission, from the lowest. */
export function rolesWith(permission: Permission): readonly Role[] {
  return ROLES_UPWARD.filter((role) => mayAs(role, permission))
}

/**
 * The one place where access is decided, always on the organization of a loaded object.
 *
 * Throws `NOT_FOUND`, as for a `thing` that does not exist, when the organization is gone or
 * another's; `FORBIDDEN` when the actor belongs to it but its role does not reach so far.
 */
export function permitted<O extends Organization>(
  access: Access,
  organization: O | undefined,
  thing: string,
): O {
  const { actor } = access
  const isVisible = actor.role === 'platform' || actor.orgId === organization?.id
  if (organization === undefined || !isVisible) throw notFound(thing)
  assertRoleMay(access)
  return organization
}

/** The same for what belongs to the installation: throws `FORBIDDEN` unless the role is `platform`. */
export function assertPermittedOnInstallation(access: Access): void {
  assertRoleMay(access)
  if (access.actor.role !== 'platform') throw forbidden(access.actor)
}

/** Whether a role has a permission in its organization. */
export function mayAs(role: Role, permission: Permission): boolean {
  return ROLE_PERMISSIONS[role].includes(permission)
}

/** Throws `FORBIDDEN` unless the role has the permission, in any organization. */
export function assertRoleMay({ actor, permission }: Access): void {
  if (!mayAs(actor.role, permission)) throw forbidden(actor)
}

function forbidden(actor: Actor): FlagError {
  return new FlagError('FORBIDDEN', `The role ${actor.role} may not do this.`)
}

/** The error for callers without valid credentials. */
export function unauthenticated(message: string): FlagError {
  return new FlagError('UNAUTHENTICATED', message)
}

/** The error for what is unknown, deleted, or of another organization. */
export function notFound(thing: string): FlagError {
  return new FlagError('NOT_FOUND', `There is no such ${thing}.`)
}
