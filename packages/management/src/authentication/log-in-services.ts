import { isFlagError } from '@ff/core'
import { addressOf, type Client, type Clock, type Job, type Logger } from '@ff/server/plane'
import type { Storage } from '@ff/storage'
import { notFound } from '../access/permissions.ts'
import type { PasswordHasher } from '../ports/password-hasher.ts'
import type { SecretKeys } from '../secrets/secret-keys.ts'
import type { CredentialAttempts } from './credential-attempts.ts'
import { KnownDevices } from './known-devices.ts'
import { LogInAttempts } from './log-in-attempts.ts'
import { LoginAudit } from './login-audit.ts'
import { type LiveSession, LoginSessions, sessionTokenOf } from './login-sessions.ts'

/** The services that log-in needs. */
export interface LogInServices {
  readonly passwordHasher: PasswordHasher
  readonly sessions: LoginSessions
  readonly logins: LoginAudit
  readonly attempts: LogInAttempts
  readonly devices: KnownDevices
  /** The path of the cookies of sessions and devices. */
  readonly cookiePath: string
}

interface LogInServicesOptions {
  readonly storage: Storage
  readonly clock: Clock
  readonly logger: Logger
  readonly passwordHasher: PasswordHasher
  readonly cookiePath: string
  readonly secretKeys: SecretKeys
}

/** The parts of a use case's first argument that log-in needs. */
interface LogInRequest {
  /** `null` if users do not log in to this server. */
  readonly logInServices: LogInServices | null
  readonly credentialAttempts: CredentialAttempts
  readonly trustProxy: boolean
  /** Absent in process. */
  readonly caller?: Client
}

const FORGET_EVERY_MS = 10 * 60_000

/** Creates the services that log-in needs. */
export function createLogInServices(options: LogInServicesOptions): LogInServices {
  const { passwordHasher, cookiePath } = options
  return {
    passwordHasher,
    sessions: new LoginSessions(options),
    logins: new LoginAudit(options),
    attempts: new LogInAttempts(options),
    devices: new KnownDevices(options),
    cookiePath,
  }
}

/** Creates the job that deletes log-in sessions that have ended. */
export function endedSessionsJob({ logInServices }: Pick<LogInRequest, 'logInServices'>): Job {
  return {
    name: 'forget ended log-in sessions',
    everyMs: FORGET_EVERY_MS,
    run: async () => logInServices?.sessions.forgetEnded(),
  }
}

/** Throws `NOT_FOUND`, as for an unknown path, if users do not log in to this server. */
export function requireLogInServices({
  logInServices,
}: Pick<LogInRequest, 'logInServices'>): LogInServices {
  if (logInServices === null) throw notFound('path')
  return logInServices
}

/**
 * Returns the session of the caller's cookie. `undefined` if there is none, or if the request has a
 * bearer token. Throws `RATE_LIMITED` if the caller's address has sent too many wrong credentials.
 */
export async function findSession({
  logInServices,
  caller,
  credentialAttempts,
}: LogInRequest): Promise<LiveSession | undefined> {
  if (logInServices === null || caller?.header('authorization') !== undefined) return undefined
  const token = caller && sessionTokenOf(caller)
  if (caller === undefined || token === undefined) return undefined
  return credentialAttempts.find(caller, token, () => logInServices.sessions.find(token))
}

/**
 * Tries a proof of identity and returns whether it holds. Throws `RATE_LIMITED` before any work is
 * done if there were too many failed attempts; see `LogInAttempts`. `account` is the e-mail address,
 * or `undefined` if only the proof names the account, as that of an identity provider does. An
 * attempt fails if it returns `false` or throws `UNAUTHENTICATED`; no other attempt counts.
 */
export async function tryProof(
  request: LogInRequest,
  account: string | undefined,
  attempt: (services: LogInServices) => Promise<boolean>,
): Promise<boolean> {
  const services = requireLogInServices(request)
  const { caller, trustProxy } = request
  const network = caller && addressOf(caller, trustProxy)
  const device =
    caller && account !== undefined ? await services.devices.find(caller, account) : undefined
  try {
    return await services.attempts.run({ network, account, device }, () => attempt(services))
  } catch (error) {
    if (isFlagError(error) && error.code === 'RATE_LIMITED') services.logins.countRefused()
    throw error
  }
}
