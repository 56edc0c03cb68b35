import { FlagError, isFlagError } from '@ff/core'
import { addressOf, type Clock, type Job, type Logger } from '@ff/server/plane'
import type { Storage } from '@ff/storage'
import { notFound } from '../changes/permissions.ts'
import type { Installation, Management } from '../management.ts'
import type { SecretKeys } from '../secrets/secret-keys.ts'
import { KnownDevices } from './known-devices.ts'
import { LogInAttempts } from './log-in-attempts.ts'
import { LoginAudit } from './login-audit.ts'
import { type LiveSession, LoginSessions, sessionTokenOf } from './login-sessions.ts'
import type { PasswordHasher } from './password-hasher.ts'

/** What log-ins need. */
export interface People {
  readonly passwordHasher: PasswordHasher
  readonly sessions: LoginSessions
  readonly logins: LoginAudit
  readonly attempts: LogInAttempts
  readonly devices: KnownDevices
  /** The path that the cookies of sessions and devices are sent to. */
  readonly cookiePath: string
}

interface PeopleParts {
  readonly storage: Storage
  readonly clock: Clock
  readonly logger: Logger
  readonly passwordHasher: PasswordHasher
  readonly cookiePath: string
  readonly secretKeys: SecretKeys
}

const FORGET_EVERY_MS = 10 * 60_000

/** Creates what log-ins need. */
export function createPeople({ cookiePath, passwordHasher, ...parts }: PeopleParts): People {
  return {
    passwordHasher,
    sessions: new LoginSessions(parts),
    logins: new LoginAudit(parts),
    attempts: new LogInAttempts(parts),
    devices: new KnownDevices(parts),
    cookiePath,
  }
}

/** Forgets log-in sessions that are over. */
export function endedSessionsJob({ people }: Installation): Job {
  return {
    name: 'forget ended log-in sessions',
    everyMs: FORGET_EVERY_MS,
    run: async () => people?.sessions.forgetEnded(),
  }
}

/** Throws `NOT_FOUND`, as for any unknown path, where people do not log in here. */
export function requirePeople({ people }: Installation): People {
  if (people === null) throw notFound('path')
  return people
}

/**
 * The session that a request is sent with; none of what is sent with a bearer token too. Throws
 * `RATE_LIMITED` if the caller's address has sent too many wrong credentials.
 */
export async function findSession({
  people,
  caller,
  credentialAttempts,
}: Pick<Management, 'people' | 'caller' | 'credentialAttempts'>): Promise<LiveSession | undefined> {
  if (people === null || caller?.header('authorization') !== undefined) return undefined
  const token = caller && sessionTokenOf(caller)
  if (caller === undefined || token === undefined) return undefined
  return credentialAttempts.find(caller, token, () => people.sessions.find(token))
}

/**
 * Tries a proof of identity and returns whether it holds. Throws `RATE_LIMITED` before any work is
 * done if there were too many failed attempts; see `LogInAttempts`. `account` is the e-mail address,
 * or `undefined` if only the proof names the account, as that of an identity provider does. An
 * attempt fails if it returns `false` or throws `UNAUTHENTICATED`; no other attempt counts.
 */
export async function tryProof(
  management: Management,
  account: string | undefined,
  attempt: (people: People) => Promise<boolean>,
): Promise<boolean> {
  const people = requirePeople(management)
  const { caller, trustProxy } = management
  const network = caller && addressOf(caller, trustProxy)
  const device =
    caller && account !== undefined ? await people.devices.find(caller, account) : undefined
  try {
    return await people.attempts.run({ network, account, device }, () => attempt(people))
  } catch (error) {
    if (isFlagError(error) && error.code === 'RATE_LIMITED') people.logins.countRefused()
    throw error
  }
}

/** The refusal of who is not known, or not known to be who they say. */
export function unauthenticated(message: string): FlagError {
  return new FlagError('UNAUTHENTICATED', message)
}
