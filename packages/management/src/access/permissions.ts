import { FlagError } from '@ff/core'
import {
  hasPermission,
  isRoleWithin,
  type Organization,
  type Permission,
  type Role,
  rolesWith,
} from '@ff/protocol/management'
import type { Actor } from './actors.ts'

/** An actor and the permission that its operation requires. */
export interface Access {
  readonly actor: Actor
  readonly permission: Permission
}

/**
 * Throws `FORBIDDEN` if `role` is higher than the role of `actor`, which therefore cannot grant or
 * revoke `role`.
 */
export function assertRoleWithin(role: Role, actor: Actor): void {
  if (isRoleWithin(role, actor.role)) return
  const message = `The role ${actor.role} cannot grant or revoke the role ${role}.`
  throw new FlagError('FORBIDDEN', message)
}

/**
 * Returns the organization if the actor is allowed to access it. This function decides about every
 * access to the records of an organization.
 *
 * Throws `NOT_FOUND`, as for a `thing` that does not exist, if the organization is `undefined` or
 * is not the actor's own. The role `platform` can access every organization. Throws `FORBIDDEN` if
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
  if (access.actor.role !== 'platform') throw forbidden(access, 'platform')
}

/** Throws `FORBIDDEN` unless the role has the permission, in any organization. */
export function assertRoleMay({ actor, permission }: Access): void {
  if (hasPermission(actor.role, permission)) return
  throw forbidden({ actor, permission }, rolesWith(permission)[0] ?? 'platform')
}

/** Creates the error for an actor with a lower role than `lowest`. */
function forbidden({ actor: { role, source } }: Access, lowest: Role): FlagError {
  const required = lowest === 'platform' ? lowest : `${lowest} or higher`
  return new FlagError(
    'FORBIDDEN',
    `Requires role ${required}; this ${source ?? 'actor'} is ${role}.`,
  )
}

/** Returns the error for a caller without valid credentials. */
export function unauthenticated(message: string): FlagError {
  return new FlagError('UNAUTHENTICATED', message)
}

/**
 * Returns the error for a thing that does not exist, is deleted, or belongs to another organization
 * than the actor.
 */
export function notFound(thing: string): FlagError {
  return new FlagError('NOT_FOUND', `There is no such ${thing}.`)
}

/**
 * Returns the error for an endpoint of a feature that is not configured. `how` tells how the host
 * configures it.
 */
export function notConfigured(feature: string, how: string): FlagError {
  return new FlagError('NOT_FOUND', `${feature} not configured on this server; ${how}.`)
}
