import { accessSync, constants } from 'node:fs'
import { FlagError } from '@ff/core'
import { Client } from 'pg'
import type { PostgresAddress } from './postgres-watch.ts'

const EXPECTED =
  'must be a URL such as "postgres://user:password@host:5432/database", in which %2F stands for "/" and %40 for "@"'
const ONE_HOST =
  'must name one host: use a name or a proxy that always points to the primary, and omit `target_session_attrs`'

const TLS_FILES = ['sslrootcert', 'sslcert', 'sslkey'] as const
/** The modes that pg treats as `verify-full`, with a warning. */
const VERIFIED_MODES: readonly unknown[] = ['prefer', 'require', 'verify-ca']
const MODES: readonly unknown[] = ['disable', 'no-verify', 'verify-full', ...VERIFIED_MODES]

/**
 * Returns the host, the port and the database of a URL, without its user and its password. `name`
 * is the name of the option. Throws `INVALID_REQUEST` if it is not a PostgreSQL URL. Neither the
 * message nor its cause contains the URL, because it contains a password.
 */
export function placeOf(name: string, url: string): string {
  const refuse = (fault: string) => new FlagError('INVALID_REQUEST', `\`${name}\` ${fault}.`)
  if (typeof url !== 'string' || !/^postgres(?:ql)?:\/\//.test(url)) throw refuse(EXPECTED)
  const fault = faultIn(url)
  if (fault !== undefined) throw refuse(fault)
  const client = clientFor(url)
  // The database of a URL with an unescaped password contains a part of the password.
  if (client === undefined || client.database?.includes('@')) throw refuse(EXPECTED)
  return `${client.host}:${client.port}/${client.database}`
}

/** Returns the address of the server of a valid URL. */
export function addressOf(url: string): PostgresAddress {
  const { host, port } = new Client({ connectionString: url })
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
}

/**
 * Returns the URL with `sslmode=verify-full` in place of the modes that pg treats in the same way,
 * because pg would write a warning of several lines.
 */
export function withVerifiedTls(url: string): string {
  const parameters = parametersOf(url)
  const mode = parameters.get('sslmode')
  if (isCompatible(parameters) || !VERIFIED_MODES.includes(mode)) return url
  return url.replace(/([?&]sslmode=)[\w-]+/, '$1verify-full')
}

/** Returns what is wrong with a URL; `undefined` if nothing was found. */
function faultIn(url: string): string | undefined {
  if (url.includes('#')) return 'must not contain "#": write %23 for it in the password'
  const [head = '', ...rest] = url.replace(/^\w+:\/\//, '').split('?')
  // The host and the database are missing in front of the first question mark.
  if (rest.join('?').includes('@') && !/[@/]/.test(head))
    return 'must not contain "?" in the password: write %3F for it'
  const parameters = parametersOf(url)
  const hosts = head.slice(head.lastIndexOf('@') + 1).split('/')[0] ?? ''
  const hasSeveral = [hosts, parameters.get('host')].some((text) => text?.includes(','))
  if (hasSeveral || parameters.has('target_session_attrs')) return ONE_HOST
  const mode = parameters.get('sslmode')
  if (mode !== null && !MODES.includes(mode))
    return `has an unknown \`sslmode\`: use one of ${MODES.join(', ')}`
  if (mode === 'verify-ca' && isCompatible(parameters) && !parameters.has('sslrootcert'))
    return 'must name the certificate as `sslrootcert` for `sslmode=verify-ca`'
  for (const file of TLS_FILES) {
    const path = parameters.get(file)
    const problem = path === null ? undefined : problemOf(path)
    if (problem !== undefined) return `names a file as \`${file}\` that cannot be read (${problem})`
  }
  return undefined
}

/** Returns `true` if a URL gives the modes the meaning that they have in libpq. */
function isCompatible(parameters: URLSearchParams): boolean {
  return parameters.get('uselibpqcompat') === 'true'
}

function parametersOf(url: string): URLSearchParams {
  const start = url.indexOf('?')
  return new URLSearchParams(start === -1 ? '' : url.slice(start + 1))
}

/** Returns the path and the cause if a file cannot be read. */
function problemOf(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK)
    return undefined
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    return `${path}: ${code}`
  }
}

/** Returns a client that is not connected; `undefined` if the URL is malformed. */
function clientFor(url: string): Client | undefined {
  try {
    return new Client({ connectionString: withVerifiedTls(url) })
  } catch {
    return undefined
  }
}
