import type { Administrator } from '@ff/management'
import { ConfigError } from './config-error.ts'
import { textOf, type Variables } from './variables.ts'

/** The settings of an OpenID Connect provider. */
export interface OidcConfig {
  readonly issuer: string
  /** The name that users see; `undefined` for the host of the issuer. */
  readonly name: string | undefined
  readonly clientId: string
  readonly clientSecret: string
}

const MIN_TOKEN_LENGTH = 16
const MIN_PASSWORD_LENGTH = 12
const MAX_PASSWORD_LENGTH = 256

/** Returns the administrator's token; `undefined` if it is not set. */
export function adminTokenOf(value: string | undefined): string | undefined {
  const token = textOf(value)
  if (token === undefined) return undefined
  if (token.length < MIN_TOKEN_LENGTH || /\s/.test(token)) {
    throw new ConfigError(
      `FF_ADMIN_TOKEN must have at least ${MIN_TOKEN_LENGTH} characters and no spaces. Create one with "openssl rand -hex 32".`,
    )
  }
  return token
}

/** Returns the administrator. Checks the values here so that messages can name the variables. */
export function administratorOf(
  address: string | undefined,
  password: string | undefined,
): Administrator | undefined {
  const email = textOf(address)
  if (email === undefined && !password) return undefined
  if (email === undefined || !/^[^@\s]+@[^@\s]+$/.test(email)) {
    throw new ConfigError('FF_ADMIN_EMAIL must be the e-mail address of the administrator.')
  }
  const length = [...(password ?? '').normalize('NFKC')].length
  if (password === undefined || length < MIN_PASSWORD_LENGTH || length > MAX_PASSWORD_LENGTH) {
    throw new ConfigError(
      `FF_ADMIN_PASSWORD must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters if FF_ADMIN_EMAIL is set.`,
    )
  }
  return { email, password }
}

/** Returns the settings of the identity provider; `undefined` if none is set. */
export function oidcOf(env: Variables): OidcConfig | undefined {
  const issuer = textOf(env['FF_OIDC_ISSUER'])
  const name = textOf(env['FF_OIDC_NAME'])
  const clientId = textOf(env['FF_OIDC_CLIENT_ID'])
  const clientSecret = textOf(env['FF_OIDC_CLIENT_SECRET'])
  if ((issuer ?? clientId ?? clientSecret) === undefined) return undefined
  if (issuer === undefined || !URL.canParse(issuer) || !isSafe(new URL(issuer))) {
    throw new ConfigError('FF_OIDC_ISSUER must be the https URL of an identity provider.')
  }
  if (clientId === undefined) throw missing('FF_OIDC_CLIENT_ID')
  if (clientSecret === undefined) throw missing('FF_OIDC_CLIENT_SECRET')
  if (textOf(env['FF_PUBLIC_URL']) === undefined) throw missing('FF_PUBLIC_URL')
  return { issuer, name, clientId, clientSecret }
}

function missing(name: string): ConfigError {
  return new ConfigError(
    `${name} must be set together with the other variables of the identity provider.`,
  )
}

function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

/** Returns `true` for a loopback host name, for which TLS is not required. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}
