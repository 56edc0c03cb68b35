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

/** The options of `oidcProvider`. */
export interface OidcProviderOptions {
  /** The URL of the provider, to which `/.well-known/openid-configuration` is appended. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** The name that users see, such as `Keycloak`; by default, the host of `issuer`. */
  readonly name?: string | undefined
  /** The requested scopes, separated by spaces; `openid email` by default. */
  readonly scope?: string
  /** Permits a provider without TLS, for tests and development. */
  readonly allowHttp?: boolean
}

type Grant = Awaited<ReturnType<typeof authorizationCodeGrant>>
type Claims = Readonly<Record<string, unknown>>

/** The time limit for a response of the provider. It is short because a browser is waiting. */
const TIMEOUT_SECONDS = 8

/** The codes of errors in the content of a response, as opposed to a failed request. */
const INVALID_RESPONSE_CODES: ReadonlySet<string | undefined> = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
])

/**
 * Creates an identity provider that uses OpenID Connect: the authorization code flow with PKCE,
 * state and nonce. The provider's metadata is loaded at the first log-in. Throws `INVALID_REQUEST`
 * if `issuer` is not an https URL.
 *
 * @example
 * createFlagServer({
 *   identityProvider: oidcProvider({ issuer, clientId, clientSecret }),
 *   publicUrl: 'https://flags.example.com',
 * })
 */
export function oidcProvider(options: OidcProviderOptions): IdentityProvider {
  const { scope = 'openid email', issuer, allowHttp = false } = options
  const server = parseIssuer(issuer, allowHttp)
  const configuration = discoverer(server, options)
  return {
    name: options.name ?? server.host,
    begin: (redirectUri) =>
      callProvider(async () => {
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
      const config = await callProvider(configuration)
      return verifyResponse(async () => {
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

/** Returns a function that loads the provider's metadata and caches it. A failure is not cached. */
function discoverer(
  server: URL,
  { clientId, clientSecret, allowHttp = false }: OidcProviderOptions,
): () => Promise<Configuration> {
  const settings = {
    timeout: TIMEOUT_SECONDS,
    execute: [enableNonRepudiationChecks, ...(allowHttp ? [allowInsecureRequests] : [])],
  }
  let loaded: Promise<Configuration> | undefined
  return () => {
    loaded ??= discovery(server, clientId, undefined, clientAuth(clientSecret), settings).catch(
      (cause: unknown) => {
        loaded = undefined
        throw cause
      },
    )
    return loaded
  }
}

/**
 * Sends the client secret in the request body if the provider supports it, because providers differ
 * in the encoding of a secret in a header.
 */
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
  throw new FlagError('INVALID_REQUEST', `issuer must be an https URL (got "${issuer}").`)
}

/**
 * Returns the claims of the ID token; an absent e-mail address is read from the user-info endpoint.
 */
async function loadClaims(config: Configuration, grant: Grant): Promise<Claims> {
  const claims = grant.claims()
  if (claims === undefined) throw new Error('The token response has no ID token.')
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
    // Some providers send a string.
    isEmailVerified: email_verified === true || email_verified === 'true',
  }
}

/**
 * Throws `UNAUTHENTICATED` if the provider refuses the log-in or its response is not valid, and
 * `UNAVAILABLE` if the request fails for another reason.
 */
function verifyResponse<T>(request: () => Promise<T>): Promise<T> {
  return callProvider(async () => {
    try {
      return await request()
    } catch (cause) {
      if (cause instanceof AuthorizationResponseError)
        throw refused(`it returned ${cause.error}`, cause)
      const isWrongCode = cause instanceof ResponseBodyError && cause.error === 'invalid_grant'
      const isWrong = cause instanceof ClientError && INVALID_RESPONSE_CODES.has(cause.code)
      if (isWrongCode || isWrong) throw refused('its response is not valid', cause)
      throw cause
    }
  })
}

/** Throws `UNAVAILABLE` if the request fails with an error other than a `FlagError`. */
async function callProvider<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request()
  } catch (cause) {
    if (cause instanceof FlagError) throw cause
    const code = cause instanceof ResponseBodyError ? `: ${cause.error}` : ''
    const message = 'The identity provider cannot be reached or returned an unexpected response'
    throw new FlagError('UNAVAILABLE', `${message}${code}.`, { cause })
  }
}

function refused(why: string, cause: unknown): FlagError {
  const message = `The identity provider did not confirm the log-in: ${why}.`
  return new FlagError('UNAUTHENTICATED', message, { cause })
}
