import { FlagError } from '@ff/core'
import type { Role } from '@ff/protocol/management'
import {
  type Clock,
  hashSecret,
  LastUse,
  type Logger,
  silentLogger,
  timestampAt,
} from '@ff/server/plane'
import type { Storage } from '@ff/storage'

/** Who asks for something, and as what. */
export interface Actor {
  readonly id: string
  /** Empty for a token. */
  readonly email: string
  readonly name: string
  readonly role: Role
  /** null only for the role `platform`. */
  readonly orgId: string | null
  /** What the actor was recognized by; undefined: the host application. */
  readonly source?: 'token' | 'user' | undefined
}

/** Who asks where no credentials are asked for. May nothing that needs a permission. */
export const NOBODY: Actor = { id: '', email: '', name: '', role: 'viewer', orgId: null }

/** Who does what the server does by itself, when its time has come. */
export const SYSTEM: Actor = {
  id: 'system',
  email: '',
  name: 'System',
  role: 'platform',
  orgId: null,
}

/** Bearer token → who it belongs to, or nothing. A host may bring its own: JWT, session, OIDC. */
export type AuthenticateBearer = (
  token: string,
  request: { header(name: string): string | undefined },
) => Promise<Actor | undefined>

/**
 * Returns an actor of `authenticateBearer` by its id, with the rights of this moment; nothing if the
 * actor has none any more.
 */
export type FindActor = (id: string) => Promise<Actor | undefined>

/** What a token of ours begins with, unless an operator has chosen another text. */
export const ACCESS_TOKEN_PREFIX = 'ffat_'
const LONGEST_TOKEN = 512
const BEARER = /^Bearer +([\x21-\x7e]+)$/i

/**
 * Recognises the access tokens that are kept, hashed, in the store; refuses expired ones. Keeps
 * when each was last used, to the minute.
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

/** The actor of a request; throws `UNAUTHENTICATED` when its token names nobody. */
export async function requireActor(
  request: { header(name: string): string | undefined },
  authenticate: (token: string) => Promise<Actor | undefined>,
): Promise<Actor> {
  const token = BEARER.exec(request.header('authorization') ?? '')?.[1]
  const actor = token === undefined ? undefined : await authenticate(token)
  if (actor === undefined) {
    throw new FlagError('UNAUTHENTICATED', 'A valid bearer token is required.')
  }
  return actor
}
