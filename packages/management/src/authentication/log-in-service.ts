import { isFlagError } from '@ff/core'
import { addressOf, type Client, isByHttps, type Job, type ServerServices } from '@ff/server/plane'
import { notConfigured } from '../access/permissions.ts'
import type { PasswordHasher } from '../ports/password-hasher.ts'
import type { IssuedCredentials } from '../secrets/issued-credentials.ts'
import type { SecretKeys } from '../secrets/secret-keys.ts'
import type { CookieSettings } from './cookies.ts'
import type { CredentialAttempts } from './credential-attempts.ts'
import { KnownDevices } from './known-devices.ts'
import { LogInAttempts } from './log-in-attempts.ts'
import { LoginAudit } from './login-audit.ts'
import { type LiveSession, LoginSessions, sessionCookie, sessionTokenOf } from './login-sessions.ts'

interface LogInServiceOptions
  extends Pick<
    ServerServices,
    'storage' | 'recentEvents' | 'clock' | 'logger' | 'trustProxy' | 'rateLimiter'
  > {
  readonly passwordHasher: PasswordHasher
  readonly credentialAttempts: CredentialAttempts
  readonly issued: IssuedCredentials
  readonly secretKeys: SecretKeys
  /** The path of session cookies and device cookies. */
  readonly cookiePath: string
  /** The URL of this server for browsers, without a trailing slash. */
  readonly publicUrl: string | undefined
}

const FORGET_EVERY_MS = 10 * 60_000

/**
 * Limits proofs of identity, and creates log-in sessions, their cookies and their audit entries.
 */
export class LogInService {
  readonly passwordHasher: PasswordHasher
  readonly sessions: LoginSessions
  readonly logins: LoginAudit
  readonly #attempts: LogInAttempts
  readonly #devices: KnownDevices
  readonly #options: LogInServiceOptions

  constructor(options: LogInServiceOptions) {
    this.passwordHasher = options.passwordHasher
    this.sessions = new LoginSessions(options)
    this.logins = new LoginAudit(options)
    this.#attempts = new LogInAttempts(options)
    this.#devices = new KnownDevices(options)
    this.#options = options
  }

  /**
   * Returns the session of the caller's cookie; `undefined` if there is none, or if the request has
   * a bearer token. Throws `RATE_LIMITED` if the caller's address has sent too many wrong
   * credentials. Counts as a use of the session unless `isUse` is `false`.
   */
  async findSession(caller: Client | undefined, isUse = true): Promise<LiveSession | undefined> {
    if (caller === undefined || caller.header('authorization') !== undefined) return undefined
    const token = sessionTokenOf(caller)
    if (token === undefined) return undefined
    return this.#options.credentialAttempts.find(caller, token, () =>
      this.sessions.find(token, isUse),
    )
  }

  /**
   * Calls `prove` and returns `true` if the identity is proven. Throws `RATE_LIMITED` without
   * calling `prove` if there were too many failed attempts; see `LogInAttempts`. `account` is the
   * e-mail address, or `undefined` if the account is not known before the proof, as with an
   * identity provider. An attempt counts as failed if `prove` returns `false` or throws
   * `UNAUTHENTICATED`.
   */
  async tryProof(
    caller: Client | undefined,
    account: string | undefined,
    prove: () => Promise<boolean>,
  ): Promise<boolean> {
    const network = caller && addressOf(caller, this.#options.trustProxy)
    const isOfAccount = caller !== undefined && account !== undefined
    const device = isOfAccount ? await this.#devices.find(caller, account) : undefined
    try {
      return await this.#attempts.run({ network, account, device }, prove)
    } catch (error) {
      if (isFlagError(error) && error.code === 'RATE_LIMITED') this.logins.countRefused()
      throw error
    }
  }

  /**
   * Returns the cookie of a session; without a session, a cookie that removes the session cookie.
   */
  sessionCookie(session: LiveSession | undefined, caller: Client | undefined): string {
    return sessionCookie(session, this.#cookieSettings(caller))
  }

  /** Returns the cookie that makes the caller's browser a known device of the account. */
  deviceCookie(email: string, caller: Client | undefined): Promise<string> {
    return this.#devices.cookieFor(email, this.#cookieSettings(caller))
  }

  #cookieSettings(caller: Client | undefined): CookieSettings {
    const { publicUrl, trustProxy, cookiePath } = this.#options
    const isPublic = publicUrl?.startsWith('https:') ?? false
    const isSecure = isPublic || (caller !== undefined && isByHttps(caller, trustProxy))
    return { path: cookiePath, isSecure }
  }
}

/** Creates the job that deletes log-in sessions that have ended. */
export function endedSessionsJob(service: LogInService | undefined): Job {
  return {
    name: 'forget ended log-in sessions',
    everyMs: FORGET_EVERY_MS,
    isShared: true,
    run: async () => service?.sessions.forgetEnded(),
  }
}

/** Returns `service`. Throws `NOT_FOUND` if log-in is not configured. */
export function requireLogIn(service: LogInService | undefined): LogInService {
  if (service === undefined)
    throw notConfigured('Log-in is', 'remove the option `users: false` of createManagement')
  return service
}
