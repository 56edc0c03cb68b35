import { isFlagError } from '@ff/core'
import { postgres } from '@ff/storage/postgres'
import { redis } from '@ff/storage/redis'
import { ConfigError } from './config-error.ts'
import { textOf, type Variables } from './variables.ts'

/** The settings of a PostgreSQL database. */
export interface DatabaseConfig {
  readonly url: string
  /** The URL of the connection that listens for changes; `false` for none. The default is `url`. */
  readonly listenUrl?: string | false
  /** The maximum number of connections of all processes of this server. */
  readonly connections: number
}

/** Connections that read, write and listen for changes. */
const MIN_CONNECTIONS_OF_WORKER = 3
const MAX_CONNECTIONS = 10_000
/** Two servers with these connections fit into PostgreSQL's default of 100. */
const DEFAULT_CONNECTIONS = 40

/** Returns the PostgreSQL database; `undefined` if no variable names one. */
export function databaseOf(env: Variables, workers: number): DatabaseConfig | undefined {
  const url = textOf(env['DATABASE_URL'])
  const connections = connectionsOf(env['FF_DATABASE_CONNECTIONS'], workers)
  const listenUrl = listenUrlOf(env['DATABASE_LISTEN_URL'])
  if (listenUrl === undefined) return url === undefined ? undefined : { url, connections }
  if (url === undefined) throw new ConfigError('DATABASE_LISTEN_URL requires DATABASE_URL.')
  return { url, listenUrl, connections }
}

/**
 * Returns a line for each URL of PostgreSQL whose `sslmode` has another meaning than in other
 * programs.
 */
export function describeTlsModes(env: Variables): readonly string[] {
  return (['DATABASE_URL', 'DATABASE_LISTEN_URL'] as const).flatMap((name) => {
    const url = env[name] ?? ''
    const [, mode] = /[?&]sslmode=(prefer|require|verify-ca)(?:&|$)/.exec(url) ?? []
    if (mode === undefined || /[?&]uselibpqcompat=true(?:&|$)/.test(url)) return []
    return `${name}: sslmode=${mode} verifies the certificate and the host name, as verify-full does.`
  })
}

function listenUrlOf(value: string | undefined): string | false | undefined {
  const url = textOf(value)
  if (url === undefined) return undefined
  if (url.toLowerCase() === 'none') return false
  checkUrl('DATABASE_LISTEN_URL', () => postgres({ url, listenUrl: false }))
  return url
}

function connectionsOf(value: string | undefined, workers: number): number {
  const text = textOf(value)
  const min = MIN_CONNECTIONS_OF_WORKER * workers
  const connections = text === undefined ? Math.max(DEFAULT_CONNECTIONS, min) : Number(text)
  if (/^\d{1,5}$/.test(text ?? '0') && connections >= min && connections <= MAX_CONNECTIONS) {
    return connections
  }
  throw new ConfigError(
    `FF_DATABASE_CONNECTIONS must be an integer from ${min} (${MIN_CONNECTIONS_OF_WORKER} for each of FF_WORKERS) to ${MAX_CONNECTIONS}, not "${text}".`,
  )
}

/** Returns the URL of the Redis server; `undefined` if no variable names one. */
export function redisUrlOf(env: Variables): string | undefined {
  const url = textOf(env['REDIS_URL'])
  if (url === undefined) return undefined
  if (textOf(env['DATABASE_URL']) === undefined) {
    throw new ConfigError(
      'REDIS_URL requires DATABASE_URL: servers can share Redis only if they share a PostgreSQL database.',
    )
  }
  checkUrl('REDIS_URL', () => redis({ url }))
  return url
}

/** Throws `ConfigError` if an adapter, which opens no connection yet, refuses its URL. */
function checkUrl(name: keyof Variables, createAdapter: () => unknown): void {
  try {
    createAdapter()
  } catch (error) {
    if (!isFlagError(error)) throw error
    throw new ConfigError(error.message.replace('`url`', name))
  }
}
