import { FlagError } from '@ff/core'
import {
  type Client,
  type Clock,
  equalSecrets,
  hashSecret,
  LastUse,
  newId,
  type ServerServices,
  sha256,
  timestampAt,
} from '@ff/server/plane'
import type { LoginSession, Storage } from '@ff/storage'
import type { IssuedCredentials } from '../secrets/issued-credentials.ts'
import { type CookieSettings, findCookie, setCookieText } from './cookies.ts'

/** The name of the session cookie. */
export const SESSION_COOKIE = 'ff_session'
const SESSION_PREFIX = 'ffs_'
const SESSION = /^ffs_[0-9a-f]{64}$/

const LIFETIME_MS = 12 * 60 * 60_000
/** The time without use after which a session ends. */
const IDLE_MS = 2 * 60 * 60_000

/** A session that was just opened or found, with its secrets. */
export interface LiveSession {
  readonly record: LoginSession
  readonly token: string
  readonly csrfToken: string
}

interface LoginSessionsOptions extends Pick<ServerServices, 'storage' | 'clock' | 'logger'> {
  readonly issued: IssuedCredentials
}

/** Stores log-in sessions. Only the hash of a token is stored. */
export class LoginSessions {
  readonly #storage: Storage
  readonly #clock: Clock
  readonly #issued: IssuedCredentials
  readonly #lastUse: LastUse

  constructor(options: LoginSessionsOptions) {
    this.#storage = options.storage
    this.#clock = options.clock
    this.#issued = options.issued
    this.#lastUse = new LastUse('loginSession', options)
  }

  /** Opens a session with a new token. A token that a browser sends is never reused. */
  async open({ userId, method }: Pick<LoginSession, 'userId' | 'method'>): Promise<LiveSession> {
    const token = await this.#issued.issue(SESSION_PREFIX)
    const now = timestampAt(this.#clock)
    const record: LoginSession = {
      id: newId(),
      hash: await hashSecret(token),
      userId,
      method,
      expiresAt: new Date(this.#clock.now() + LIFETIME_MS).toISOString(),
      lastUsedAt: now,
      createdAt: now,
      updatedAt: now,
      deletedAt: null,
      revision: 1,
    }
    await this.#storage.insert('loginSession', record)
    return { record, token, csrfToken: await csrfTokenOf(token) }
  }

  /**
   * Returns the session with this token; `undefined` if it has ended or is unknown. Counts as a use of
   * the session unless `isUse` is `false`.
   */
  async find(token: string, isUse = true): Promise<LiveSession | undefined> {
    const where = { hash: await hashSecret(token) }
    const record = (await this.#storage.list('loginSession', { where, limit: 1 })).data[0]
    if (record === undefined || this.#isOver(record)) return undefined
    if (isUse) this.#lastUse.note(record.id)
    return { record, token, csrfToken: await csrfTokenOf(token) }
  }

  /** Deletes a session. */
  async end({ record: { id } }: LiveSession): Promise<void> {
    await this.#storage.purge('loginSession', { where: { id } })
  }

  /** Deletes the sessions that have ended. */
  async forgetEnded(): Promise<void> {
    const now = this.#clock.now()
    const to = (ms: number) => new Date(ms).toISOString()
    await this.#storage.purge('loginSession', { range: { field: 'expiresAt', to: to(now) } })
    const idle = { field: 'lastUsedAt', to: to(now - IDLE_MS) } as const
    await this.#storage.purge('loginSession', { range: idle })
  }

  #isOver({ expiresAt, lastUsedAt }: LoginSession): boolean {
    const now = this.#clock.now()
    return now >= Date.parse(expiresAt) || now >= Date.parse(lastUsedAt) + IDLE_MS
  }
}

/** Throws `FORBIDDEN` unless the request has the CSRF token of the session. */
export function assertCsrfToken({ csrfToken }: LiveSession, caller: Pick<Client, 'header'>): void {
  if (equalSecrets(caller.header('x-csrf-token') ?? '', csrfToken)) return
  throw new FlagError('FORBIDDEN', 'X-CSRF-Token must be the token that GET /auth/me returns.')
}

/**
 * Returns the value of `Set-Cookie` for a session; without a session, a value that removes the
 * cookie.
 */
export function sessionCookie(session: LiveSession | undefined, settings: CookieSettings): string {
  return setCookieText({
    ...settings,
    name: SESSION_COOKIE,
    value: session?.token ?? '',
    maxAgeSeconds: session === undefined ? 0 : LIFETIME_MS / 1000,
  })
}

/** Returns the session token of a request; `undefined` if it is missing or malformed. */
export function sessionTokenOf(caller: Pick<Client, 'header'>): string | undefined {
  const token = findCookie(caller.header('cookie'), SESSION_COOKIE)
  return token !== undefined && SESSION.test(token) ? token : undefined
}

/**
 * Derives the CSRF token of a session. The CSRF token is not stored and does not reveal the session
 * token.
 */
function csrfTokenOf(token: string): Promise<string> {
  return sha256(`csrf ${token}`)
}
