import { FlagError } from '@ff/core'
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import type { Identity, IdentityProvider } from '../ports/identity-provider.ts'

export interface OidcProviderOptions {
  /** The provider's address, below which `/.well-known/openid-configuration` is. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** What is asked for; `openid email` by default. */
  readonly scope?: string
  /** For tests and development: the provider may be spoken to without TLS. */
  readonly allowHttp?: boolean
}

type Grant = Awaited<ReturnType<typeof authorizationCodeGrant>>
type Claims = Readonly<Record<string, unknown>>

/** The longest wait for a response of the provider; a browser is waiting too. */
const TIMEOUT_SECONDS = 8

/** What is wrong with an answer, rather than with the provider or the way to it. */
const WRONG_ANSWERS: ReadonlySet<string | undefined> = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
])

/**
 * Creates an identity provider that uses OpenID Connect: the authorization code flow with PKCE,
 * state and nonce. The provider's metadata is loaded by the first log-in. Throws
 * `INVALID_REQUEST` for an issuer that is no https address.
 *
 * @example
 * createFlagServer({
 *   identityProvider: oidcProvider({ issuer, clientId, clientSecret }),
 *   publicUrl: 'https://flags.example.com',
 * })
 */
export function oidcProvider(options: OidcProviderOptions): IdentityProvider {
  const { scope = 'openid email' } = options
  const configuration = discoverer(options)
  return {
    begin: (redirectUri) =>
      asking(async () => {
        const checks = {
          state: randomState(),
          nonce: randomNonce(),
          codeVerifier: randomPKCECodeVerifier(),
        }
        const url = buildAuthorizationUrl(await configuration(), {
          redirect_uri: redirectUri,
          scope,
          state: checks.state,
          nonce: checks.nonce,
          code_challenge: await calculatePKCECodeChallenge(checks.codeVerifier),
          code_challenge_method: 'S256',
        })
        return { url: url.href, checks }
      }),
    finish: async (callbackUrl, { state, nonce, codeVerifier }) => {
      const config = await asking(configuration)
      return judging(async () => {
        const expected = {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        }
        const grant = await authorizationCodeGrant(config, new URL(callbackUrl), expected)
        return toIdentity(await loadClaims(config, grant))
      })
    },
  }
}

/** Returns a function that loads the provider's metadata once; again after a failure. */
function discoverer(options: OidcProviderOptions): () => Promise<Configuration> {
  const { issuer, clientId, clientSecret, allowHttp = false } = options
  const server = parseIssuer(issuer, allowHttp)
  const settings = {
    timeout: TIMEOUT_SECONDS,
    execute: [enableNonRepudiationChecks, ...(allowHttp ? [allowInsecureRequests] : [])],
  }
  let known: Promise<Configuration> | undefined
  return () => {
    known ??= discovery(server, clientId, undefined, clientAuth(clientSecret), settings).catch(
      (cause: unknown) => {
        known = undefined
        throw cause
      },
    )
    return known
  }
}

/** Providers disagree about how a secret is encoded in a header, so that is the second choice. */
function clientAuth(clientSecret: string): ClientAuth {
  const [post, basic] = [ClientSecretPost(clientSecret), ClientSecretBasic(clientSecret)]
  return (server, ...request) => {
    const isPost = server.token_endpoint_auth_methods_supported?.includes('client_secret_post')
    return (isPost ? post : basic)(server, ...request)
  }
}

function parseIssuer(issuer: string, allowHttp: boolean): URL {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined
  if (url?.protocol === 'https:' || (allowHttp && url?.protocol === 'http:')) return url
  throw new FlagError('INVALID_REQUEST', `issuer must be an https address, not "${issuer}".`)
}

/** Many providers send the e-mail address in the ID token; the others at the user-info endpoint. */
async function loadClaims(config: Configuration, grant: Grant): Promise<Claims> {
  const claims = grant.claims()
  if (claims === undefined) throw new Error('a grant without an ID token')
  const isComplete = 'email' in claims && 'email_verified' in claims
  if (isComplete || config.serverMetadata().userinfo_endpoint === undefined) return claims
  const { email, email_verified } = await fetchUserInfo(config, grant.access_token, claims.sub)
  return { ...claims, email, email_verified }
}

function toIdentity({ iss, sub, email, email_verified }: Claims): Identity {
  return {
    issuer: String(iss),
    subject: String(sub),
    email: typeof email === 'string' ? email : undefined,
    // Some send it as text.
    isEmailVerified: email_verified === true || email_verified === 'true',
  }
}

/** Throws `UNAUTHENTICATED` for a refusal or a wrong response, `UNAVAILABLE` for a failed request. */
function judging<T>(ask: () => Promise<T>): Promise<T> {
  return asking(async () => {
    try {
      return await ask()
    } catch (cause) {
      if (cause instanceof AuthorizationResponseError)
        throw refused(`it says ${cause.error}`, cause)
      const isWrongCode = cause instanceof ResponseBodyError && cause.error === 'invalid_grant'
      const isWrong = cause instanceof ClientError && WRONG_ANSWERS.has(cause.code)
      if (isWrongCode || isWrong) throw refused('this is not its answer to what was asked', cause)
      throw cause
    }
  })
}

async function asking<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (cause) {
    if (cause instanceof FlagError) throw cause
    const code = cause instanceof ResponseBodyError ? `: it says ${cause.error}` : ''
    const message = 'The identity provider cannot be reached, or does not answer as it should'
    throw new FlagError('UNAVAILABLE', `${message}${code}.`, { cause })
  }
}

function refused(why: string, cause: unknown): FlagError {
  const message = `The identity provider has let nobody in: ${why}.`
  return new FlagError('UNAUTHENTICATED', message, { cause })
}
