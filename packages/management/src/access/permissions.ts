import { FlagError } from '@ff/core'
import {
  hasPermission,
  isRoleWithin,
  type Organization,
  type Permission,
  type Role,
} from '@ff/protocol/management'
import type { Actor } from './actors.ts'

/** An actor and the permission that its operation requires. */
export interface Access {
  readonly actor: Actor
  readonly permission: Permission
}

/** Throws `FORBIDDEN` if an actor grants or revokes a role that is higher than its own. */
export function assertRoleWithin(role: Role, actor: Actor): void {
  if (isRoleWithin(role, actor.role)) return
  const message = `The role ${actor.role} cannot grant or revoke the role ${role}.`
  throw new FlagError('FORBIDDEN', message)
}

/**
 * Returns the organization if the actor may access it. All access to the records of organizations
 * is decided here.
 *
 * Throws `NOT_FOUND`, as for a `thing` that does not exist, if the organization is `undefined` or
 * is not the actor's own. The role `platform` may access every organization. Throws `FORBIDDEN` if
 * the actor's role lacks the permission.
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

/** Throws `FORBIDDEN` unless the actor has the permission and the role `platform`. */
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

/** Returns the error for a caller without valid credentials. */
export function unauthenticated(message: string): FlagError {
  return new FlagError('UNAUTHENTICATED', message)
}

/** Returns the error for a thing that does not exist, is deleted, or is not the actor's own. */
export function notFound(thing: string): FlagError {
  return new FlagError('NOT_FOUND', `There is no such ${thing}.`)
}
