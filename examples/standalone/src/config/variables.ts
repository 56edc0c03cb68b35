import { ConfigError } from './config-error.ts'

/** All environment variables that the server reads. */
export const VARIABLES = [
  'DATABASE_LISTEN_URL',
  'DATABASE_URL',
  'HOST',
  'PORT',
  'REDIS_URL',
  'FF_ADMIN_EMAIL',
  'FF_ADMIN_PASSWORD',
  'FF_ADMIN_TOKEN',
  'FF_BASE_PATH',
  'FF_DASHBOARD',
  'FF_DATABASE_CONNECTIONS',
  'FF_DATA_DIR',
  'FF_DEMO_TRAFFIC',
  'FF_JOBS',
  'FF_KEEP_ALIVE_S',
  'FF_LOG_FORMAT',
  'FF_LOG_LEVEL',
  'FF_MANAGEMENT_RATE_LIMIT',
  'FF_MAX_CONTEXTS_PER_ENVIRONMENT',
  'FF_MAX_CONTEXTS_PER_ORGANIZATION',
  'FF_MAX_CONTEXT_MB_PER_ENVIRONMENT',
  'FF_MAX_CONTEXT_MB_PER_ORGANIZATION',
  'FF_MAX_FLAG_SET_MB',
  'FF_MAX_HELD_CONTEXT_BYTES',
  'FF_MAX_PENDING_SOCKETS_PER_ADDRESS',
  'FF_METRICS_PUBLIC',
  'FF_OIDC_CLIENT_ID',
  'FF_OIDC_CLIENT_SECRET',
  'FF_OIDC_ISSUER',
  'FF_OIDC_NAME',
  'FF_PUBLIC_URL',
  'FF_SECRET_KEY',
  'FF_SNAPSHOT_DIR',
  'FF_STRIPE_RETURN_URL',
  'FF_STRIPE_SECRET_KEY',
  'FF_STRIPE_WEBHOOK_SECRET',
  'FF_TRUST_PROXY',
  'FF_WEBHOOKS_ALLOW_LOOPBACK',
  'FF_WORKERS',
] as const

/** The values of the variables. A variable that is not in the list is a compile error. */
export type Variables = { readonly [Name in (typeof VARIABLES)[number]]?: string | undefined }

/** Returns a value without spaces at its ends; `undefined` if it is absent or empty. */
export function textOf(value: string | undefined): string | undefined {
  const text = value?.trim()
  return text === '' ? undefined : text
}

/** Returns the value of a boolean variable, or the default if it is not set. */
export function switchOf(name: string, value: string | undefined, byDefault = false): boolean {
  const text = textOf(value)?.toLowerCase() ?? String(byDefault)
  if (text === '1' || text === 'true') return true
  if (text === '0' || text === 'false') return false
  throw new ConfigError(`${name} must be 1, true, 0 or false, not "${value}".`)
}

/** Returns the value of a variable with fixed choices; `undefined` if it is not set. */
export function choiceOf<Choice extends string>(
  name: keyof Variables,
  env: Variables,
  choices: readonly Choice[],
): Choice | undefined {
  const text = textOf(env[name])?.toLowerCase()
  const choice = choices.find((each) => each === text)
  if (text === undefined || choice !== undefined) return choice
  throw new ConfigError(`${name} must be one of ${choices.join(', ')}, not "${env[name]}".`)
}
