import { FlagError } from '@ff/core'
import type { PasswordChange } from '@ff/protocol/management'
import { type Clock, hashSecret, timestampAt } from '@ff/server/plane'
import type { Records, StorageSession } from '@ff/storage'
import { unauthenticated } from '../access/permissions.ts'
import { actorOf } from '../authentication/accounts.ts'
import { type LogInService, requireLogIn } from '../authentication/log-in-service.ts'
import { loginEntry, type PasswordEvent } from '../authentication/login-audit.ts'
import { assertCsrfToken, type LiveSession } from '../authentication/login-sessions.ts'
import { appendAudit, chainName } from '../changes/audit-chain.ts'
import type { EndpointUseCases } from '../changes/use-case.ts'
import { invalid } from '../requests/validation.ts'
import { WithHeaders } from '../requests/with-headers.ts'
import { findAccountOf, type LogInRequest, openLoginSession, refusalOf } from './log-ins.ts'

const SHORTEST_PASSWORD = 12
const LONGEST_PASSWORD = 256

/**
 * Creates the use case of passwords. The use case throws `NOT_FOUND` if `service` is `undefined`.
 */
export function createPasswordUseCases(service: LogInService | undefined) {
  return {
    async changePassword({ storage, clock }, { caller }, { body }) {
      const request = { storage, clock, service: requireLogIn(service), caller }
      return new WithHeaders(null, { cookies: await changePassword(request, body) })
    },
  } satisfies Partial<EndpointUseCases>
}

interface PasswordRequest extends LogInRequest {
  readonly clock: Clock
}

/**
 * Changes a password. The request contains the old password of the logged-in user or the token of a
 * one-time link. A link also accepts its membership. A link cannot change the password of a user
 * with another membership; that user accepts the membership with the current password.
 *
 * Returns the cookies for the browser, which becomes a known device. If a link has set the password,
 * all sessions of the user have ended, and one of the cookies contains a new session.
 */
async function changePassword(
  request: PasswordRequest,
  { token, oldPassword, newPassword }: PasswordChange,
): Promise<readonly string[]> {
  const { service, caller } = request
  if (token !== undefined) {
    if ((oldPassword === undefined) === (newPassword === undefined)) {
      throw invalid('token', 'must be sent with exactly one of new_password and old_password')
    }
    const password = newPassword ?? oldPassword ?? ''
    const isNew = newPassword !== undefined
    const user = await acceptByLink(request, { token, password, isNew })
    if (isNew) return (await openLoginSession(request, user, 'password')).cookies
    return [await service.deviceCookie(user.email, caller)]
  }
  if (oldPassword === undefined) throw invalid('old_password', 'is required without a token')
  if (newPassword === undefined) throw invalid('new_password', 'is required')
  const { email } = await changeOwn(request, { oldPassword, newPassword })
  return [await service.deviceCookie(email, caller)]
}

/**
 * Throws `INVALID_REQUEST`, with the name of the field, if a password does not have 12 to 256 code
 * points after NFKC normalisation, or if it is equal to the e-mail address.
 */
export function assertGoodPassword(password: string, field: string, email: string): void {
  const normal = password.normalize('NFKC')
  const { length } = [...normal]
  if (length < SHORTEST_PASSWORD || length > LONGEST_PASSWORD) {
    throw invalid(field, `must have ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters`)
  }
  if (normal.toLowerCase() === email) throw invalid(field, 'must not be the e-mail address')
}

interface NewPassword extends Pick<PasswordEvent, 'actor' | 'orgId'> {
  readonly passwordHash: string
  readonly now: string
  readonly by: PasswordEvent['fields']['by']
  /** The session that stays open. */
  readonly except?: LiveSession
}

/**
 * Sets the password of a user, ends all sessions of the user but `except`, and writes the audit
 * event.
 */
export async function setPassword(
  session: StorageSession,
  user: Records['user'],
  { passwordHash, now, by, actor, orgId, except }: NewPassword,
): Promise<void> {
  const changes = { passwordHash, updatedAt: now, revision: user.revision + 1 }
  await session.update('user', user.id, changes, user.revision)
  const { data } = await session.list('loginSession', { where: { userId: user.id } })
  for (const { id } of data) {
    if (id !== except?.record.id) await session.purge('loginSession', { where: { id } })
  }
  const fields = { email: user.email, by }
  await appendAudit(
    session,
    loginEntry({ type: 'user.password_changed', fields, actor, orgId }, now),
  )
}

async function changeOwn(
  { storage, clock, service, caller }: PasswordRequest,
  { oldPassword, newPassword }: { readonly oldPassword: string; readonly newPassword: string },
): Promise<Records['user']> {
  const { passwordHasher, logins } = service
  const live = await service.findSession(caller)
  const account = live && (await findAccountOf(storage, live))
  const actor = account && actorOf(account)
  if (!caller || !live || !account || !actor)
    throw unauthenticated('Log in first: POST /auth/login.')
  assertCsrfToken(live, caller)
  const { user } = account
  const { email } = user
  assertGoodPassword(newPassword, 'new_password', email)
  const isRight = await service.tryProof(caller, email, async () => {
    if ((await passwordHasher.verify(oldPassword, user.passwordHash)) !== 'wrong') return true
    const fields = { email, method: 'password', reason: 'wrong old password' } as const
    await logins.refuse(refusalOf(account, fields))
    return false
  })
  if (!isRight) throw new FlagError('FORBIDDEN', 'old_password is wrong.')
  const passwordHash = await passwordHasher.hash(newPassword)
  const orgId = actor.orgId ?? ''
  await storage.transaction(chainName('logins', orgId), async (session) => {
    const now = timestampAt(clock)
    const event = { by: 'password', actor, orgId } as const
    await setPassword(session, user, { passwordHash, now, ...event, except: live })
  })
  return user
}

interface LinkUse {
  readonly token: string
  readonly password: string
  /** `true` if `password` is the new password, `false` if it is the current one. */
  readonly isNew: boolean
}

async function acceptByLink(
  request: PasswordRequest,
  { token, password, isNew }: LinkUse,
): Promise<Records['user']> {
  const { storage, clock, service } = request
  const linkHash = await hashSecret(token)
  const { user, member } = await findInvited(storage, linkHash, timestampAt(clock))
  await assertUsable(storage, { user, member, isNew })
  if (isNew) assertGoodPassword(password, 'new_password', user.email)
  const passwordHash = isNew
    ? await service.passwordHasher.hash(password)
    : await provenHash(request, { user, member, password })
  const { orgId } = member
  await storage.transaction(chainName('logins', orgId), async (session) => {
    const now = timestampAt(clock)
    // If two requests use one link concurrently, the second fails here.
    const invited = await findInvited(session, linkHash, now)
    const accepted = { acceptedAt: now, linkHash: null, linkExpiresAt: null }
    const after = await session.update('member', member.id, accepted, invited.member.revision)
    const actor = { id: user.id, email: user.email, name: member.name, role: member.role }
    const entry = { type: 'member.accepted', fields: after, actor, orgId } as const
    await appendAudit(session, loginEntry(entry, now))
    if (!isNew) return
    // Fails if another link has set a password meanwhile, because the user's revision has changed.
    await setPassword(session, user, { passwordHash, now, by: 'link', actor, orgId })
  })
  return user
}

interface Invited {
  readonly member: Records['member']
  readonly user: Records['user']
}

async function findInvited(
  reader: Pick<StorageSession, 'find' | 'list'>,
  linkHash: string,
  now: string,
): Promise<Invited> {
  const member = (await reader.list('member', { where: { linkHash }, limit: 1 })).data[0]
  const user = member && (await reader.find('user', member.userId))
  const isLiving = member?.linkExpiresAt != null && member.linkExpiresAt > now
  if (member === undefined || user === undefined || !isLiving) {
    throw unauthenticated('The link was used, has expired, or was replaced by a newer one.')
  }
  return { member, user }
}

/**
 * Throws `CONFLICT` if the request sets a new password for a user with another membership, or
 * contains the current password of a user without another membership.
 */
async function assertUsable(
  reader: Pick<StorageSession, 'list'>,
  { user, member, isNew }: Invited & { readonly isNew: boolean },
): Promise<void> {
  const { data } = await reader.list('member', { where: { userId: user.id } })
  const others = data.filter(({ id, acceptedAt }) => id !== member.id && acceptedAt !== null)
  const isElsewhere = user.role === 'platform' || others.length > 0
  if (isElsewhere === !isNew) return
  const message = isElsewhere
    ? 'The user already has a password. Send it as old_password.'
    : 'The link requires a new password. Send it as new_password.'
  throw new FlagError('CONFLICT', message)
}

async function provenHash(
  { service, caller }: PasswordRequest,
  { user, member, password }: Invited & { readonly password: string },
): Promise<string> {
  const { passwordHasher, logins } = service
  const { email, passwordHash } = user
  const isRight = await service.tryProof(caller, email, async () => {
    if ((await passwordHasher.verify(password, passwordHash)) !== 'wrong') return true
    const fields = { email, method: 'password', reason: 'wrong password' } as const
    await logins.refuse(refusalOf({ user, memberships: [member] }, fields))
    return false
  })
  if (!isRight || passwordHash === null) throw unauthenticated('The password is wrong.')
  return passwordHash
}
