import { isFlagError } from '@ff/core'
import { OWN_PATH } from '@ff/protocol/management'
import { type Clock, newId, timestampAt } from '@ff/server/plane'
import type { Records } from '@ff/storage'
import * as z from 'zod'
import { notConfigured, unauthenticated } from '../access/permissions.ts'
import { type Account, actorOf, findAccount, isStillMember } from '../authentication/accounts.ts'
import { findCookie, setCookieText } from '../authentication/cookies.ts'
import { type LogInService, requireLogIn } from '../authentication/log-in-service.ts'
import type { ChangeCall, ChangeServices } from '../changes/apply-change.ts'
import type { EndpointUseCases } from '../changes/use-case.ts'
import type { AuthorizationChecks, Identity, IdentityProvider } from '../ports/identity-provider.ts'
import type { Input } from '../requests/input.ts'
import { isEmail } from '../requests/validation.ts'
import { WithHeaders } from '../requests/with-headers.ts'
import { type LogInRequest, openLoginSession, refusalOf } from './log-ins.ts'

const COOKIE = 'ff_oidc'
/** The time limit from the redirect to the provider until the browser returns. */
const WITHIN_SECONDS = 600

/**
 * The content of the cookie of a browser that was redirected to the provider. The cookie is not
 * signed, because a signature would not stop an attacker who can set cookies in another user's
 * browser: the attacker could start a log-in, receive a signed cookie, and set this cookie there.
 */
const keptCodec = z.strictObject({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  returnTo: z.string().regex(OWN_PATH),
  until: z.number(),
})
type Kept = z.output<typeof keptCodec>

const storable = z
  .string()
  .min(1)
  .regex(/^[^\0\p{Cs}]*$/u)
/**
 * The identities that every store can save and keep unique. OpenID Connect Core 1.0 §2 limits a
 * subject to 255 characters.
 */
const identityShape = z.object({ issuer: storable.max(512), subject: storable.max(255) })

/** The dependencies of the log-in methods and of log-in by an identity provider. */
interface OidcOptions {
  /** The log-in service; `undefined` if users cannot log in to the server. */
  readonly service: LogInService | undefined
  /** The configured identity provider; `undefined` if there is none. */
  readonly identityProvider: IdentityProvider | undefined
  /** The URL of this server for browsers, without a trailing slash. */
  readonly publicUrl: string | undefined
}

interface OidcRequest extends LogInRequest {
  readonly clock: Clock
  readonly provider: IdentityProvider
  readonly redirectUri: string
}

/**
 * Creates the use cases of the log-in methods and of log-in by an identity provider. Without a
 * provider, the latter throw `NOT_FOUND`.
 */
export function createOidcUseCases({ service, identityProvider, publicUrl }: OidcOptions) {
  const requestOf = ({ storage, clock }: ChangeServices, { caller }: ChangeCall): OidcRequest => {
    const isOff = service === undefined || identityProvider === undefined || publicUrl === undefined
    if (isOff) {
      const how = 'set identityProvider and publicUrl of createManagement, or FF_OIDC_ISSUER'
      throw notConfigured('OpenID Connect is', how)
    }
    const redirectUri = `${publicUrl}/auth/oidc/callback`
    return { storage, clock, service, caller, provider: identityProvider, redirectUri }
  }
  return {
    /** Returns the methods with which users can log in. Throws `NOT_FOUND` if they cannot log in. */
    async getLogInMethods() {
      requireLogIn(service)
      const oidc = identityProvider === undefined ? null : { name: identityProvider.name }
      return { password: true, oidc }
    },
    startOidcLogIn: async (services, call, { query }) =>
      startOidcLogIn(requestOf(services, call), query),
    finishOidcLogIn: async (services, call, { query }) =>
      finishOidcLogIn(requestOf(services, call), query),
  } satisfies Partial<EndpointUseCases>
}

/**
 * Redirects a browser to the identity provider. Throws `UNAVAILABLE` if the provider cannot be
 * reached.
 */
async function startOidcLogIn(
  { provider, redirectUri, clock }: OidcRequest,
  { returnTo = '/' }: Input<'startOidcLogIn', 'query'>['query'],
): Promise<WithHeaders<null>> {
  const { url, checks } = await provider.begin(redirectUri)
  const until = clock.now() + WITHIN_SECONDS * 1000
  const cookie = cookieOf(redirectUri, { ...checks, returnTo, until })
  return new WithHeaders(null, { headers: { Location: url }, cookies: [cookie] })
}

/**
 * Completes a log-in when the browser returns from the provider. Throws `UNAUTHENTICATED` if the
 * provider refuses the log-in, the identity is unknown, or this browser did not start the log-in or
 * has started it too long ago. Throws `RATE_LIMITED` after too many failed attempts, and
 * `UNAVAILABLE` if the provider cannot be reached.
 */
async function finishOidcLogIn(
  request: OidcRequest,
  query: Input<'finishOidcLogIn', 'query'>['query'],
): Promise<WithHeaders<null>> {
  const { provider, redirectUri, service, caller } = request
  const { returnTo, ...checks } = findKept(request)
  const callback = new URL(redirectUri)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) callback.searchParams.set(name, value)
  }
  let user: Records['user'] | undefined
  await service.tryProof(caller, undefined, async () => {
    const identity = await identify(request, provider.finish(callback.href, checks))
    user = await findUser(request, identity)
    return true
  })
  if (user === undefined) throw unknownIdentity()
  const { cookies } = await openLoginSession(request, user, 'oidc')
  return new WithHeaders(null, { headers: { Location: returnTo }, cookies })
}

/** Returns the identity. Records a refusal of the provider in the audit log. */
async function identify(request: OidcRequest, finished: Promise<Identity>): Promise<Identity> {
  try {
    return await finished
  } catch (error) {
    if (isFlagError(error) && error.code === 'UNAUTHENTICATED') {
      const reason = 'refused by the identity provider'
      await audit(request, { account: undefined, email: '', reason })
    }
    throw error
  }
}

/**
 * Returns the user that the identity is linked to. If the identity is not linked, links it to the
 * user with the verified e-mail address of the identity, because the provider can later assign this
 * address to another subject.
 */
async function findUser(request: OidcRequest, identity: Identity): Promise<Records['user']> {
  const { storage } = request
  const { issuer, subject, isEmailVerified } = identity
  const email = isEmail(identity.email) ? String(identity.email).toLowerCase() : ''
  if (!identityShape.safeParse({ issuer, subject }).success) {
    await audit(request, { account: undefined, email, reason: 'unusable issuer or subject' })
    throw unknownIdentity()
  }
  const where = { issuer, subject }
  const linked = (await storage.list('identity', { where, limit: 1 })).data[0]
  const account = await findAccount(storage, linked ? { id: linked.userId } : { email }, 'oidc')
  const isVouchedFor = linked !== undefined || isEmailVerified
  let reason = isVouchedFor ? reasonAgainst(account) : 'no verified address'
  if (account !== undefined && reason === undefined) {
    if (linked === undefined) reason = await link(request, account, identity)
    if (reason === undefined) return account.user
  }
  await audit(request, { account, email, reason: reason ?? 'unknown' })
  throw unknownIdentity()
}

function reasonAgainst(account: Account | undefined): string | undefined {
  if (account === undefined) return 'unknown'
  return actorOf(account) === undefined ? 'no membership' : undefined
}

/**
 * Links an identity to a user. Returns the reason if the user has another identity of the provider,
 * or if the last membership of the user has ended: its end removes the identities of the user.
 */
function link(
  { storage, clock }: OidcRequest,
  { user: { id: userId, role }, memberships }: Account,
  { issuer, subject }: Identity,
): Promise<string | undefined> {
  return storage.transaction('identities', async (session) => {
    const isMember = role === 'platform' || (await isStillMember(session, memberships))
    if (!isMember) return 'no membership'
    const { data } = await session.list('identity', { where: { userId, issuer }, limit: 1 })
    const known = data[0]
    if (known !== undefined) {
      return known.subject === subject ? undefined : 'linked to another identity'
    }
    const now = timestampAt(clock)
    const frame = { createdAt: now, updatedAt: now, deletedAt: null, revision: 1 }
    await session.insert('identity', { id: newId(), userId, issuer, subject, ...frame })
    return undefined
  })
}

interface Refusal {
  readonly account: Account | undefined
  readonly email: string
  readonly reason: string
}

async function audit({ service }: OidcRequest, { account, email, reason }: Refusal): Promise<void> {
  await service.logins.refuse(refusalOf(account, { email, method: 'oidc', reason }))
}

function cookieOf(redirectUri: string, kept: Kept): string {
  const { protocol, pathname } = new URL(redirectUri)
  return setCookieText({
    name: COOKIE,
    value: encodeURIComponent(JSON.stringify(kept)),
    path: pathname,
    maxAgeSeconds: WITHIN_SECONDS,
    isSecure: protocol === 'https:',
  })
}

function findKept({
  caller,
  clock,
}: OidcRequest): AuthorizationChecks & { readonly returnTo: string } {
  const text = findCookie(caller?.header('cookie'), COOKIE)
  const kept = text === undefined ? undefined : asKept(text)
  if (kept === undefined || kept.until <= clock.now()) {
    throw unauthenticated(
      'The log-in was not started by this browser or has expired. Log in again.',
    )
  }
  const { until: _, ...rest } = kept
  return rest
}

function asKept(text: string): Kept | undefined {
  try {
    return keptCodec.parse(JSON.parse(decodeURIComponent(text)))
  } catch {
    return undefined
  }
}

function unknownIdentity() {
  return unauthenticated('The identity does not belong to a user of this server.')
}
