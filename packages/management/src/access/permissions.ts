import { FlagError } from '@ff/core'
import {
  hasPermission,
  isRoleWithin,
  type Organization,
  type Permission,
  type Role,
} from '@ff/protocol/management'
import type { Actor } from './actors.ts'

/** An actor, and the permission that an access needs. */
export interface Access {
  readonly actor: Actor
  readonly permission: Permission
}

/** Throws `FORBIDDEN` if an actor would give or take a role above its own. */
export function assertRoleWithin(role: Role, actor: Actor): void {
  if (isRoleWithin(role, actor.role)) return
  const message = `The role ${actor.role} cannot give or take the role ${role}.`
  throw new FlagError('FORBIDDEN', message)
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

/** Throws `FORBIDDEN` unless the role has the permission, in any organization. */
export function assertRoleMay({ actor, permission }: Access): void {
  if (!hasPermission(actor.role, permission)) throw forbidden(actor)
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
