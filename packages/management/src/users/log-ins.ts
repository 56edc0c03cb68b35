import { isFlagError } from '@ff/core'
import type { LogIn, NewLogIn } from '@ff/protocol/management'
import { isByHttps } from '@ff/server/plane'
import type { LoginSession, Records, Storage } from '@ff/storage'
import type { Actor } from '../access/actors.ts'
import { unauthenticated } from '../access/permissions.ts'
import { type Account, actorOf, findAccount } from '../authentication/accounts.ts'
import type { CookieSettings } from '../authentication/cookies.ts'
import {
  findSession,
  type LogInServices,
  requireLogInServices,
  tryProof,
} from '../authentication/log-in-services.ts'
import { type LoginRefusal, UNKNOWN_ACTOR } from '../authentication/login-audit.ts'
import { type LiveSession, sessionCookie } from '../authentication/login-sessions.ts'
import { type Management, WithHeaders } from '../changes/management.ts'

/**
 * Logs a user in by e-mail address and password, with a new session that a cookie names.
 * Throws `UNAUTHENTICATED`, with the same message and after the same work whether the address is
 * known or not, and `RATE_LIMITED` after too many failed attempts.
 */
export async function logIn(
  management: Management,
  { body }: { readonly body: NewLogIn },
): Promise<WithHeaders<LogIn>> {
  const { email, password } = body
  let user: Records['user'] | undefined
  await tryProof(management, email, async (services) => {
    const account = await findAccount(management.storage, { email }, 'password')
    const known = account?.user.passwordHash ?? null
    const verdict = await services.passwordHasher.verify(password, known)
    if (account === undefined || verdict === 'wrong') {
      const reason = account === undefined ? 'unknown' : 'wrong password'
      await services.logins.refuse(refusalOf(account, { email, method: 'password', reason }))
      return false
    }
    if (verdict === 'outdated') await rehash(management, services, { user: account.user, password })
    user = account.user
    return true
  })
  if (user === undefined) throw notLoggedIn()
  return openLoginSession(management, user, 'password')
}

/**
 * Opens a session for a user whose identity is proven, and ends the session of the request. Returns
 * what `logIn` returns, with the cookies of session and device. Throws `UNAUTHENTICATED` if the
 * user is a member of no organization.
 */
export async function openLoginSession(
  management: Management,
  user: Records['user'],
  method: LoginSession['method'],
): Promise<WithHeaders<LogIn>> {
  const services = requireLogInServices(management)
  const { storage } = management
  const account = await findAccount(storage, { id: user.id }, method)
  const actor = account && actorOf(account)
  if (account === undefined || actor === undefined) {
    const fields = { email: user.email, method, reason: 'no membership' }
    await services.logins.refuse(refusalOf(account, fields))
    throw notLoggedIn()
  }
  const session = await services.sessions.open({ userId: user.id, method })
  const { orgId, ...auditedActor } = actor
  const fields = { email: user.email, method }
  await services.logins.record({
    type: 'user.login_success',
    fields,
    actor: auditedActor,
    orgId: orgId ?? '',
  })
  const before = await findSession(management)
  if (before !== undefined) await services.sessions.end(before)
  const result = await toLogIn(storage, { actor, account, session })
  const settings = cookieSettings(management, services)
  const device = await services.devices.cookieFor(user.email, settings)
  return new WithHeaders(result, { cookies: [sessionCookie(session, settings), device] })
}

/** The reply to a proof of the account's password: it makes the browser a known device. */
export async function withDeviceCookie(
  management: Management,
  email: string,
): Promise<WithHeaders<null>> {
  const services = requireLogInServices(management)
  const settings = cookieSettings(management, services)
  return new WithHeaders(null, { cookies: [await services.devices.cookieFor(email, settings)] })
}

/** Ends the session that a request is sent with. A token is not ended by this. */
export async function logOut(management: Management): Promise<null | WithHeaders<null>> {
  const services = requireLogInServices(management)
  const session = await findSession(management)
  if (session === undefined) return null
  await services.sessions.end(session)
  const cookie = sessionCookie(undefined, cookieSettings(management, services))
  return new WithHeaders(null, { cookies: [cookie] })
}

/** Returns the actor, its memberships, and the CSRF token that a page must send with changes. */
export async function getLogIn(management: Management): Promise<LogIn> {
  const { storage, actor } = management
  requireLogInServices(management)
  const session = await findSession(management)
  const account = session && (await findAccountOf(storage, session))
  if (session === undefined || account === undefined) {
    return { user: actor, memberships: [], csrfToken: null, expiresAt: null }
  }
  return toLogIn(storage, { actor, account, session })
}

/** Returns the account of a session; `undefined` if the user is deleted. */
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

/** Hashes a password that was just proven at the present cost, unless it was changed meanwhile. */
async function rehash(
  { storage }: Management,
  { passwordHasher }: LogInServices,
  { user, password }: { readonly user: Records['user']; readonly password: string },
): Promise<void> {
  const passwordHash = await passwordHasher.hash(password)
  try {
    await storage.update('user', user.id, { passwordHash }, user.revision)
  } catch (error) {
    // Changing the password changes the revision.
    if (!isFlagError(error) || error.code !== 'CONFLICT') throw error
  }
}

function cookieSettings(
  { caller, trustProxy, publicUrl }: Management,
  { cookiePath }: LogInServices,
): CookieSettings {
  const isPublic = publicUrl?.startsWith('https:') ?? false
  const isSecure = isPublic || (caller !== undefined && isByHttps(caller, trustProxy))
  return { path: cookiePath, isSecure }
}

function notLoggedIn() {
  return unauthenticated('The e-mail address or the password is wrong.')
}
