import { FlagError } from '@ff/core'

/** The Redis server, and a function that observes whether it can be used. */
export interface RedisOptions {
  /**
   * The URL of the server: `redis://user:password@host:6379/0`, or `rediss://` for TLS. The path is
   * the number of the database. Parameters are ignored. The server must not be a replica.
   */
  readonly url: string
  /**
   * The beginning of all names of keys and channels, so that several stores can share a database.
   * Default: `ff`.
   */
  readonly prefix?: string
  /**
   * Called with the reason when Redis becomes unavailable, and with `undefined` when it can be used
   * again. The reason is one sentence without a password.
   */
  readonly onStatus?: (unavailable: FlagError | undefined) => void
}

/** The options with their defaults, and the parts of the URL. */
export interface RedisSettings {
  readonly host: string
  readonly port: number
  readonly username: string | undefined
  readonly password: string | undefined
  readonly database: number
  readonly hasTls: boolean
  /** The beginning of all names, which differs between databases because channels do not. */
  readonly prefix: string
  /** The host and the port, for messages. */
  readonly place: string
}

const DEFAULT_PORT = 6379

/** Returns the options with their defaults. Throws `INVALID_REQUEST` if an option is invalid. */
export function redisSettings({ url, prefix = 'ff' }: RedisOptions): RedisSettings {
  const parts = partsOf(url)
  if (typeof prefix !== 'string' || !/^[\w.-]{1,64}$/.test(prefix)) {
    const message = '`prefix` must have 1 to 64 letters, digits, or characters of "_.-".'
    throw new FlagError('INVALID_REQUEST', message)
  }
  const { host, port } = parts
  return { ...parts, prefix: `${prefix}:${parts.database}`, place: `${host}:${port}` }
}

function partsOf(url: string): Omit<RedisSettings, 'prefix' | 'place'> {
  const expected =
    'a URL such as "redis://user:password@host:6379/0" or "rediss://…", in which %2F stands for "/" and %40 for "@"'
  // The message must not contain the URL, which contains a password.
  const invalid = new FlagError('INVALID_REQUEST', `\`url\` must be ${expected}.`)
  if (typeof url !== 'string' || !URL.canParse(url)) throw invalid
  const { protocol, hostname, port, pathname, hash, username, password } = new URL(url)
  const isRedis = protocol === 'redis:' || protocol === 'rediss:'
  if (!isRedis || hostname === '' || hostname.includes(',') || hash !== '') throw invalid
  if (!/^(?:\/\d{0,4})?$/.test(pathname)) throw invalid
  try {
    return {
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? DEFAULT_PORT : Number(port),
      username: username === '' ? undefined : decodeURIComponent(username),
      password: password === '' ? undefined : decodeURIComponent(password),
      database: Number(pathname.slice(1)),
      hasTls: protocol === 'rediss:',
    }
  } catch {
    throw invalid
  }
}
