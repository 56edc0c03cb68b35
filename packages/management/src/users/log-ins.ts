import { isFlagError } from '@ff/core'
import type { LogIn, NewLogIn } from '@ff/protocol/management'
import type { Client } from '@ff/server/plane'
import type { LoginSession, Records, Storage } from '@ff/storage'
import type { Actor } from '../access/actors.ts'
import { unauthenticated } from '../access/permissions.ts'
import { type Account, actorOf, findAccount } from '../authentication/accounts.ts'
import { type LogInService, requireLogIn } from '../authentication/log-in-service.ts'
import { type LoginRefusal, UNKNOWN_ACTOR } from '../authentication/login-audit.ts'
import type { LiveSession } from '../authentication/login-sessions.ts'
import type { EndpointUseCases } from '../changes/use-case.ts'
import { WithHeaders } from '../requests/with-headers.ts'

interface LogInSettings {
  /** `true` if the host application identifies users. */
  readonly hasHostUsers: boolean
}

/**
 * Creates the use cases of log-in sessions. Each throws `NOT_FOUND` if `service` is `undefined`,
 * except `getLogIn` if the host identifies users.
 */
export function createLogInUseCases(
  service: LogInService | undefined,
  { hasHostUsers }: LogInSettings,
) {
  return {
    logIn: async ({ storage }, { caller }, { body }) =>
      logIn({ storage, service: requireLogIn(service), caller }, body),

    /** Ends the session of the request. Does nothing if the request has an access token instead. */
    async logOut(_services, { caller }) {
      const required = requireLogIn(service)
      const session = await required.findSession(caller)
      if (session === undefined) return null
      await required.sessions.end(session)
      return new WithHeaders(null, { cookies: [required.sessionCookie(undefined, caller)] })
    },

    /** Returns the actor, its memberships, and the CSRF token that changing requests require. */
    async getLogIn({ storage }, { actor, caller }) {
      const used = hasHostUsers ? service : requireLogIn(service)
      const session = await used?.findSession(caller)
      const account = session && (await findAccountOf(storage, session))
      if (session === undefined || account === undefined) {
        return { user: actor, memberships: [], csrfToken: null, expiresAt: null }
      }
      return toLogIn(storage, { actor, account, session })
    },
  } satisfies Partial<EndpointUseCases>
}

/** The dependencies of a log-in, and the client that requests it. */
export interface LogInRequest {
  readonly storage: Storage
  readonly service: LogInService
  readonly caller: Client | undefined
}

/**
 * Logs a user in by e-mail address and password, and opens a session. The session token is sent in
 * a cookie. Throws `UNAUTHENTICATED` if the address is unknown or the password is wrong, with the
 * same message and after the same work in both cases. Throws `RATE_LIMITED` after too many failed
 * attempts.
 */
async function logIn(request: LogInRequest, { email, password }: NewLogIn) {
  const { storage, service, caller } = request
  const { passwordHasher, logins } = service
  let user: Records['user'] | undefined
  await service.tryProof(caller, email, async () => {
    const account = await findAccount(storage, { email }, 'password')
    const known = account?.user.passwordHash ?? null
    const verdict = await passwordHasher.verify(password, known)
    if (account === undefined || verdict === 'wrong') {
      const reason = account === undefined ? 'unknown' : 'wrong password'
      await logins.refuse(refusalOf(account, { email, method: 'password', reason }))
      return false
    }
    if (verdict === 'outdated') await rehash(request, { user: account.user, password })
    user = account.user
    return true
  })
  if (user === undefined) throw notLoggedIn()
  return openLoginSession(request, user, 'password')
}

/**
 * Opens a session for a user after the identity was verified, and ends the previous session of the
 * browser. Returns the log-in with a session cookie and a device cookie. Throws `UNAUTHENTICATED`
 * if the user is not a member of any organization.
 */
export async function openLoginSession(
  { storage, service, caller }: LogInRequest,
  user: Records['user'],
  method: LoginSession['method'],
): Promise<WithHeaders<LogIn>> {
  const { logins, sessions } = service
  const { id: userId, email } = user
  const account = await findAccount(storage, { id: userId }, method)
  const actor = account && actorOf(account)
  if (account === undefined || actor === undefined) {
    await logins.refuse(refusalOf(account, { email, method, reason: 'no membership' }))
    throw notLoggedIn()
  }
  const session = await sessions.open({ userId, method })
  const { orgId, keyOrgId: _, ...auditedActor } = actor
  const event = { type: 'user.login_success', fields: { email, method } } as const
  await logins.record({ ...event, actor: auditedActor, orgId: orgId ?? '' })
  const before = await service.findSession(caller)
  if (before !== undefined) await sessions.end(before)
  const result = await toLogIn(storage, { actor, account, session })
  const device = await service.deviceCookie(email, caller)
  return new WithHeaders(result, { cookies: [service.sessionCookie(session, caller), device] })
}

/** Returns the account of a session; `undefined` if the user no longer exists. */
export function findAccountOf(
  storage: Storage,
  { record }: LiveSession,
): Promise<Account | undefined> {
  return findAccount(storage, { id: record.userId }, record.method)
}

/** Returns the audit event of a refused log-in, in the organization of the account. */
export function refusalOf(
  account: Account | undefined,
  fields: LoginRefusal['fields'],
): LoginRefusal {
  const type = 'user.login_failed'
  if (account === undefined) return { type, fields, actor: UNKNOWN_ACTOR, orgId: '' }
  const { orgId, ...known } = actorOf(account) ?? { ...account.user, role: '', orgId: '' }
  const { id, email, name, role } = known
  return { type, fields, actor: { id, email, name, role }, orgId: orgId ?? '' }
}

async function toLogIn(
  storage: Storage,
  parts: { readonly actor: Actor; readonly account: Account; readonly session: LiveSession },
): Promise<LogIn> {
  const { actor, account, session } = parts
  const memberships: LogIn['memberships'] = []
  for (const { orgId, role } of account.memberships) {
    const organization = await storage.find('organization', orgId)
    if (organization) memberships.push({ orgId, name: organization.name, role })
  }
  const { csrfToken, record } = session
  return { user: actor, memberships, csrfToken, expiresAt: record.expiresAt }
}

/** Replaces the hash of a verified password with a hash of the current cost. */
async function rehash(
  { storage, service }: LogInRequest,
  { user, password }: { readonly user: Records['user']; readonly password: string },
): Promise<void> {
  const passwordHash = await service.passwordHasher.hash(password)
  try {
    await storage.update('user', user.id, { passwordHash }, user.revision)
  } catch (error) {
    // A concurrent change of the password has changed the revision, and takes precedence.
    if (!isFlagError(error) || error.code !== 'CONFLICT') throw error
  }
}

function notLoggedIn() {
  return unauthenticated('The e-mail address or the password is wrong.')
}
