import { FlagError } from '@ff/core'
import type { Role } from '@ff/protocol/management'
import {
  type Clock,
  type Exchange,
  equalSecrets,
  hashSecret,
  LastUse,
  type Logger,
  silentLogger,
  timestampAt,
} from '@ff/server/plane'
import type { Storage } from '@ff/storage'

/** The user, access token or server component for which a use case runs, with its role. */
export interface Actor {
  readonly id: string
  /** The e-mail address; empty for a token. */
  readonly email: string
  readonly name: string
  readonly role: Role
  /** The id of the actor's organization; `null` for the role `platform` and for `ANONYMOUS`. */
  readonly orgId: string | null
  /**
   * The id of the organization in which the project keys of the actor are looked up; by default
   * `orgId`. `null` if the actor has several organizations and has not selected one of them.
   */
  readonly keyOrgId?: string | null | undefined
  /** The kind of the actor's credentials; `undefined` if it has none or the host checked them. */
  readonly source?: 'token' | 'user' | undefined
}

/** The actor of endpoints without credentials; it has no permission. */
export const ANONYMOUS: Actor = { id: '', email: '', name: '', role: 'viewer', orgId: null }

/** Returns an actor for a component of the server, with the role `platform`. */
export function systemActor(id: string, name: string): Actor {
  return { id, email: '', name, role: 'platform', orgId: null }
}

/** The actor of background jobs, and of the program in which the server runs. */
export const SYSTEM = systemActor('system', 'System')

/**
 * Returns the actor of a bearer token; `undefined` if the token is not valid. A host can provide
 * its own implementation, for example for JWTs, sessions or OIDC.
 */
export type AuthenticateBearer = (
  token: string,
  request: { header(name: string): string | undefined },
) => Promise<Actor | undefined>

/**
 * Returns the user of a session of the host application with the role that the host gives to the
 * user; `undefined` if the request has no such session. The host protects these sessions against
 * forged requests: the server checks neither the origin of such a request nor a CSRF token.
 * `exchange.hostRequest` is the request object of the host. `exchange.header('x-ff-organization')`
 * is the organization that the request selects. The body must not be read.
 */
export type IdentifyUser = (exchange: Exchange) => Actor | undefined | Promise<Actor | undefined>

/**
 * Returns the actor with this id, with its current role; `undefined` if the actor has lost its
 * access. The actor is one that `authenticateBearer` or `identifyUser` has returned before.
 */
export type FindActor = (id: string) => Promise<Actor | undefined>

/** The prefix of a generated access token. */
export const ACCESS_TOKEN_PREFIX = 'ffat_'
const LONGEST_TOKEN = 512
const BEARER = /^Bearer +([\x21-\x7e]+)$/i

/**
 * Returns an authenticator for stored access tokens. It refuses expired tokens and records the last
 * use of each token with a precision of one minute.
 */
export function tokenAuthenticator(
  storage: Storage,
  clock: Clock,
  logger: Logger = silentLogger,
): AuthenticateBearer {
  const lastUse = new LastUse('accessToken', { storage, clock, logger })
  return async (token) => {
    if (token.length > LONGEST_TOKEN) return undefined
    const hash = await hashSecret(token)
    const { data } = await storage.list('accessToken', { where: { hash } })
    const found = data[0]
    if (found === undefined) return undefined
    if (found.expiresAt !== null && found.expiresAt <= timestampAt(clock)) return undefined
    lastUse.note(found.id)
    const { id, name, role, orgId } = found
    return { id, email: '', name, role, orgId, source: 'token' }
  }
}

/** The actor of the administrator's token. */
const ADMINISTRATOR = systemActor('administrator', 'Administrator')

/** Returns an authenticator that accepts `adminToken`, and passes other tokens to `next`. */
export function withAdminToken(
  adminToken: string | undefined,
  next: AuthenticateBearer,
): AuthenticateBearer {
  if (adminToken === undefined) return next
  const expected = hashSecret(adminToken)
  return async (token, request) => {
    const isAdmin = equalSecrets(await hashSecret(token), await expected)
    return isAdmin ? ADMINISTRATOR : next(token, request)
  }
}

/**
 * Returns the actor of a request; throws `UNAUTHENTICATED` if the request has no valid bearer
 * token, with a message that distinguishes a missing, a malformed and an invalid token.
 */
export async function requireActor(
  request: { header(name: string): string | undefined },
  authenticate: (token: string) => Promise<Actor | undefined>,
): Promise<Actor> {
  const header = request.header('authorization')?.trim() ?? ''
  if (header === '') {
    throw refused(
      'The Authorization header is missing. Send "Authorization: Bearer <access token>".',
    )
  }
  const token = BEARER.exec(header)?.[1]
  if (token === undefined) {
    throw refused('The Authorization header must be "Bearer " followed by an access token.')
  }
  const actor = await authenticate(token)
  if (actor === undefined) {
    throw refused('The access token is unknown, deleted or expired. Use another access token.')
  }
  return actor
}

function refused(message: string): FlagError {
  return new FlagError('UNAUTHENTICATED', message)
}
