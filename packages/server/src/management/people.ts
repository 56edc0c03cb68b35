import { FlagError, isFlagError } from '@ff/core'
import type { Storage } from '@ff/storage'
import { Attempts } from '../access/attempts.ts'
import { addressOf } from '../access/client.ts'
import { type LiveSession, LoginSessions, sessionTokenOf } from '../access/login-sessions.ts'
import type { PasswordHasher } from '../access/passwords.ts'
import { notFound } from '../access/permissions.ts'
import type { Clock } from '../clock.ts'
import type { Job } from '../jobs.ts'
import type { Logger } from '../logger.ts'
import { LoginAudit } from './login-audit.ts'
import type { Installation, Management } from './management.ts'

/** What it takes to let people in. */
export interface People {
  readonly passwordHasher: PasswordHasher
  readonly sessions: LoginSessions
  readonly logins: LoginAudit
  /** By e-mail address. */
  readonly accountAttempts: Attempts
  /** By the client's IP address. */
  readonly addressAttempts: Attempts
  /** Where the session's cookie is sent to. */
  readonly cookiePath: string
}

interface PeopleParts {
  readonly storage: Storage
  readonly clock: Clock
  readonly logger: Logger
  readonly passwordHasher: PasswordHasher
  readonly cookiePath: string
}

const ACCOUNT_ATTEMPTS = 10
/** Behind one address may be a whole office. */
const ADDRESS_ATTEMPTS = 50
const FORGET_EVERY_MS = 10 * 60_000

export function createPeople({ cookiePath, passwordHasher, ...parts }: PeopleParts): People {
  const { clock } = parts
  return {
    passwordHasher,
    sessions: new LoginSessions(parts),
    logins: new LoginAudit(parts),
    accountAttempts: new Attempts({ clock, limit: ACCOUNT_ATTEMPTS }),
    addressAttempts: new Attempts({ clock, limit: ADDRESS_ATTEMPTS }),
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
 * Tries what proves who somebody is, unless the account or the client's address has had too many
 * attempts: then throws `RATE_LIMITED` before any work is done. What an identity provider says
 * names no account beforehand. An attempt that answers true, or that could not be made, does not
 * count; one that answers false or throws `UNAUTHENTICATED` does.
 */
export async function tryProof(
  management: Management,
  account: string | undefined,
  attempt: (people: People) => Promise<boolean>,
): Promise<boolean> {
  const people = requirePeople(management)
  try {
    return await withinAttempts(management, people, { account, attempt: () => attempt(people) })
  } catch (error) {
    if (isFlagError(error) && error.code === 'RATE_LIMITED') people.logins.countRefused()
    throw error
  }
}

interface Proof {
  readonly account: string | undefined
  readonly attempt: () => Promise<boolean>
}

async function withinAttempts(
  { caller, trustProxy }: Management,
  { accountAttempts, addressAttempts }: People,
  { account, attempt }: Proof,
): Promise<boolean> {
  const address = caller && addressOf(caller, trustProxy)
  if (address !== undefined) addressAttempts.take(address)
  if (account !== undefined) accountAttempts.take(account)
  let isWrong = false
  try {
    isWrong = !(await attempt())
    return !isWrong
  } catch (error) {
    isWrong = isFlagError(error) && error.code === 'UNAUTHENTICATED'
    throw error
  } finally {
    if (!isWrong) {
      if (account !== undefined) accountAttempts.giveBack(account)
      if (address !== undefined) addressAttempts.giveBack(address)
    }
  }
}

/** The refusal of who is not known, or not known to be who they say. */
export function unauthenticated(message: string): FlagError {
  return new FlagError('UNAUTHENTICATED', message)
}
