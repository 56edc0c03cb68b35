import { assertOwnOrigin, type Exchange } from '@ff/server/plane'
import { type Actor, type AuthenticateBearer, requireActor } from '../access/actors.ts'
import { notFound, unauthenticated } from '../access/permissions.ts'
import { actorOf } from '../authentication/accounts.ts'
import { findSession } from '../authentication/log-in-services.ts'
import { assertCsrfToken } from '../authentication/login-sessions.ts'
import type { Installation } from '../changes/management.ts'
import { findAccountOf } from '../users/log-ins.ts'

/** In which of their organizations somebody who is logged in acts. */
const ORGANIZATION_HEADER = 'x-ff-organization'

export interface IdentifyingServices extends Installation {
  readonly authenticateBearer: AuthenticateBearer
}

/**
 * Refuses what a page of another origin makes a browser send. A bearer token is sent by no browser
 * of its own accord.
 */
export function assertNotForged(exchange: Exchange, trustProxy: boolean): void {
  if (isReading(exchange) || exchange.header('authorization') !== undefined) return
  assertOwnOrigin(exchange, trustProxy)
}

/**
 * Who sends a request: the owner of its bearer token, or, when there is none, whoever is logged
 * in. Their role is read anew each time. Throws `UNAUTHENTICATED` when it is nobody, `NOT_FOUND`
 * for an organization they do not belong to, `FORBIDDEN` for a change without `X-CSRF-Token`,
 * `RATE_LIMITED` if the caller's address has sent too many wrong credentials.
 */
export async function identify(services: IdentifyingServices, exchange: Exchange): Promise<Actor> {
  const { storage, credentialAttempts, authenticateBearer } = services
  const session = await findSession({ ...services, caller: exchange })
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
