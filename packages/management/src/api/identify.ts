import { assertOwnOrigin, type Exchange } from '@ff/server/plane'
import type { Storage } from '@ff/storage'
import { type Actor, type AuthenticateBearer, requireActor } from '../access/actors.ts'
import { notFound, unauthenticated } from '../access/permissions.ts'
import { actorOf } from '../authentication/accounts.ts'
import type { CredentialAttempts } from '../authentication/credential-attempts.ts'
import type { LogInService } from '../authentication/log-in-service.ts'
import { assertCsrfToken } from '../authentication/login-sessions.ts'
import { findAccountOf } from '../users/log-ins.ts'

/** The header with the id of the organization in which a logged-in user acts. */
const ORGANIZATION_HEADER = 'x-ff-organization'

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
 * `NOT_FOUND` if the user is not a member of the requested organization, `FORBIDDEN` if a changing
 * request of a logged-in user lacks the session's `X-CSRF-Token`, and `RATE_LIMITED` if the
 * caller's address has sent too many wrong credentials.
 */
export async function identify(services: IdentifyingServices, exchange: Exchange): Promise<Actor> {
  const { storage, credentialAttempts, logIn, authenticateBearer } = services
  const session = await logIn?.findSession(exchange)
  if (session === undefined) {
    return requireActor(exchange, (token) =>
      credentialAttempts.find(exchange, token, () => authenticateBearer(token, exchange)),
    )
  }
  if (!isReading(exchange)) assertCsrfToken(session, exchange)
  const account = await findAccountOf(storage, session)
  if (account === undefined || actorOf(account) === undefined)
    throw unauthenticated('Log in first.')
  const actor = actorOf(account, exchange.header(ORGANIZATION_HEADER)?.toLowerCase())
  if (actor === undefined) throw notFound('organization')
  return actor
}

function isReading({ method }: Exchange): boolean {
  return method === 'GET' || method === 'HEAD'
}
