import { assertOwnOrigin, type Exchange } from '@ff/server/plane'
import type { Storage } from '@ff/storage'
import { type Actor, type AuthenticateBearer, requireActor } from '../access/actors.ts'
import { notFound, unauthenticated } from '../access/permissions.ts'
import { ORGANIZATION_HEADER } from '../access/project-keys.ts'
import { actorOf } from '../authentication/accounts.ts'
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
 * user. The role is read for each request. Throws `UNAUTHENTICATED` without valid credentials,
 * `NOT_FOUND` if the actor does not belong to the requested organization, `FORBIDDEN` if a changing
 * request of a logged-in user lacks the session's `X-CSRF-Token`, and `RATE_LIMITED` if the
 * caller's address has sent too many wrong credentials.
 */
export async function identify(services: IdentifyingServices, exchange: Exchange): Promise<Actor> {
  const { storage, credentialAttempts, logIn, authenticateBearer } = services
  const session = await logIn?.findSession(exchange)
  const selected = exchange.header(ORGANIZATION_HEADER.toLowerCase())?.toLowerCase()
  if (session === undefined) {
    const owner = await requireActor(exchange, (token) =>
      credentialAttempts.find(exchange, token, () => authenticateBearer(token, exchange)),
    )
    return inOrganization(owner, selected)
  }
  if (!isReading(exchange)) assertCsrfToken(session, exchange)
  const account = await findAccountOf(storage, session)
  if (account === undefined || actorOf(account) === undefined)
    throw unauthenticated('Log in first: POST /auth/login.')
  const actor = actorOf(account, selected)
  if (actor === undefined) throw notFound('organization')
  return actor
}

/**
 * Returns the owner of a bearer token in the organization that the request selects, which matters
 * only for the role `platform`. Throws `NOT_FOUND` if any other owner selects another organization.
 */
function inOrganization(owner: Actor, selected: string | undefined): Actor {
  if (selected === undefined) return owner
  if (owner.role === 'platform') return { ...owner, keyOrgId: selected }
  if (owner.orgId === selected) return owner
  throw notFound('organization')
}

function isReading({ method }: Exchange): boolean {
  return method === 'GET' || method === 'HEAD'
}
