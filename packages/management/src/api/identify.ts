import { assertOwnOrigin, type Exchange } from '@ff/server/plane'
import type { Storage } from '@ff/storage'
import {
  type Actor,
  type AuthenticateBearer,
  type IdentifyUser,
  requireActor,
} from '../access/actors.ts'
import { findHostUser } from '../access/host-users.ts'
import { notFound, unauthenticated } from '../access/permissions.ts'
import { ORGANIZATION_HEADER } from '../access/project-keys.ts'
import { type Account, actorOf } from '../authentication/accounts.ts'
import type { CredentialAttempts } from '../authentication/credential-attempts.ts'
import type { LogInService } from '../authentication/log-in-service.ts'
import { assertCsrfToken } from '../authentication/login-sessions.ts'
import { findAccountOf } from '../users/log-ins.ts'

/** The services that identify the actor of a request. */
export interface IdentifyingServices {
  readonly storage: Storage
  readonly credentialAttempts: CredentialAttempts
  /** The log-in service; `undefined` if users cannot log in to this server. */
  readonly logIn: LogInService | undefined
  readonly authenticateBearer: AuthenticateBearer
  /** Identifies users by the sessions of the host; `undefined` if the host has none. */
  readonly identifyUser: IdentifyUser | undefined
  readonly trustProxy: boolean
}

/**
 * Throws `FORBIDDEN` for a changing request that a browser sends on behalf of a page of another
 * origin. Requests with an `Authorization` header pass, because browsers never add a bearer token.
 */
export function assertNotForged(exchange: Exchange, trustProxy: boolean): void {
  if (isReading(exchange) || exchange.header('authorization') !== undefined) return
  assertOwnOrigin(exchange, trustProxy)
}

/**
 * Returns the actor of a request: the owner of its bearer token or, without one, the logged-in
 * user or the user of a session of the host. The role is read for each request. Throws
 * `UNAUTHENTICATED` without valid credentials, `NOT_FOUND` if the actor does not belong to the
 * requested organization, and `RATE_LIMITED` if the caller's address has sent too many wrong
 * credentials. Throws `FORBIDDEN` for a changing request of a logged-in user if a page of another
 * origin sends it or if it lacks the session's `X-CSRF-Token`. The host is responsible for these
 * checks if it identifies the user. Counts as a use of the session unless `isUse` is `false`.
 */
export async function identify(
  services: IdentifyingServices,
  exchange: Exchange,
  { isUse = true }: { readonly isUse?: boolean } = {},
): Promise<Actor> {
  const { storage, logIn, identifyUser, trustProxy } = services
  // Only the host can decide whether a request of one of its own sessions is forged.
  if (identifyUser === undefined) assertNotForged(exchange, trustProxy)
  const selected = exchange.header(ORGANIZATION_HEADER.toLowerCase())?.toLowerCase()
  const session = await logIn?.findSession(exchange, isUse)
  if (session !== undefined) {
    assertNotForged(exchange, trustProxy)
    if (!isReading(exchange)) assertCsrfToken(session, exchange)
    return userOf(await findAccountOf(storage, session), selected)
  }
  if (identifyUser === undefined || hasBearer(exchange))
    return inOrganization(await tokenOwner(services, exchange), selected)
  const user = await findHostUser({ identifyUser, storage }, exchange)
  if (user === undefined) throw unauthenticated(HOST_ADVICE)
  return inOrganization(user, selected)
}

const HOST_ADVICE =
  'Log in to the application first, or send "Authorization: Bearer <access token>".'

/**
 * Returns the logged-in user in the selected organization. Throws `UNAUTHENTICATED` if the user has
 * no organization, and `NOT_FOUND` if the user does not belong to the selected one.
 */
function userOf(account: Account | undefined, selected: string | undefined): Actor {
  if (account === undefined || actorOf(account) === undefined)
    throw unauthenticated('Log in first: POST /auth/login.')
  const actor = actorOf(account, selected)
  if (actor === undefined) throw notFound('organization')
  return actor
}

function tokenOwner(
  { credentialAttempts, authenticateBearer }: IdentifyingServices,
  exchange: Exchange,
): Promise<Actor> {
  return requireActor(exchange, (token) =>
    credentialAttempts.find(exchange, token, () => authenticateBearer(token, exchange)),
  )
}

/**
 * Returns the owner of a bearer token, or a user of the host, in the organization that the request
 * selects, which matters only for the role `platform`. Throws `NOT_FOUND` if any other actor selects
 * another organization.
 */
function inOrganization(owner: Actor, selected: string | undefined): Actor {
  if (selected === undefined) return owner
  if (owner.role === 'platform') return { ...owner, keyOrgId: selected }
  if (owner.orgId === selected) return owner
  throw notFound('organization')
}

/** Returns `false` for other schemes, such as `Basic`, which belong to the host. */
function hasBearer(exchange: Exchange): boolean {
  return /^ *bearer\b/i.test(exchange.header('authorization') ?? '')
}

function isReading({ method }: Exchange): boolean {
  return method === 'GET' || method === 'HEAD'
}
