import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { addressOf, placeOf, withVerifiedTls } from './postgres-url.ts'

const folder = mkdtempSync(join(tmpdir(), 'ff-url-'))
const certificate = join(folder, 'root.crt')
writeFileSync(certificate, 'certificate')
afterAll(() => rmSync(folder, { recursive: true }))

const ABSENT = '/nowhere/root.crt'
const FORM = /^`url` must be a URL such as "postgres:/
const ONE_HOST = /^`url` must name one host: use a name or a proxy/

const REFUSED: readonly (readonly [url: unknown, message: RegExp])[] = [
  [undefined, FORM],
  ['', FORM],
  ['db/flags', FORM],
  ['mysql://u:hidden@db/flags', FORM],
  ['postgres://u:hidden@db:port/flags', FORM],
  ['postgres://u:hid@den@db/fl@gs', FORM],
  ['postgres://u:hid#den@db/flags', /must not contain "#": write %23/],
  ['postgres://u:hid?den@db/flags', /must not contain "\?" in the password: write %3F/],
  ['postgres://u:hidden@db1,db2/flags', ONE_HOST],
  ['postgres://u:hidden@db1:5432,db2:5432/flags?target_session_attrs=read-write', ONE_HOST],
  ['postgres://u:hidden@db/flags?target_session_attrs=read-write', ONE_HOST],
  ['postgres://u:hidden@/flags?host=db1,db2', ONE_HOST],
  ['postgres://u:hidden@db/flags?sslmode=on', /has an unknown `sslmode`: use one of disable,/],
  [
    'postgres://u:hidden@db/flags?sslmode=verify-ca&uselibpqcompat=true',
    /must name the certificate as `sslrootcert`/,
  ],
  ...['sslrootcert', 'sslcert', 'sslkey'].map(
    (file) =>
      [
        `postgres://u:hidden@db/flags?${file}=${ABSENT}`,
        new RegExp(`names a file as \`${file}\` that cannot be read \\(${ABSENT}: ENOENT\\)`),
      ] as const,
  ),
]

/** The place of a URL, or its error. */
function outcomeOf(url: unknown): string {
  try {
    return placeOf('url', url as string)
  } catch (error) {
    return (error as Error).message
  }
}

describe('URLs of PostgreSQL', () => {
  it.each([
    ['postgres://u:hidden@db:5433/flags', 'db:5433/flags'],
    ['postgresql://u:hidden@db/flags', 'db:5432/flags'],
    ['postgres://u@db/flags', 'db:5432/flags'],
    ['postgres://db/flags?user=u&password=hidden', 'db:5432/flags'],
    ['postgres://u:hidden%23%3F%2F%40@db/flags', 'db:5432/flags'],
    ['postgres://u:hid:den@db/flags', 'db:5432/flags'],
    ['postgres://u:hidden@[::1]:5433/flags', '::1:5433/flags'],
    ['postgres://u:hidden@%2Fvar%2Frun/flags', '/var/run:5432/flags'],
    ['postgres://u:hidden@/flags?host=/var/run', '/var/run:5432/flags'],
    ['postgres://u:hidden@db/flags?application_name=a@b', 'db:5432/flags'],
    ['postgres://u:hidden@db/flags?sslmode=require', 'db:5432/flags'],
    ['postgres://u:hidden@db/flags?sslmode=no-verify', 'db:5432/flags'],
    ['postgres://u:hidden@db/flags?sslmode=require&uselibpqcompat=true', 'db:5432/flags'],
    [
      `postgres://u:hidden@db/flags?sslmode=verify-full&sslrootcert=${certificate}`,
      'db:5432/flags',
    ],
  ])('The place of %s is %s', (url, place) => {
    expect(outcomeOf(url)).toBe(place)
  })

  it.each(REFUSED)(
    'The URL %s is refused with the fault, and without its password',
    (url, message) => {
      const outcome = outcomeOf(url)
      expect(outcome).toMatch(message)
      expect(outcome).not.toMatch(/hid|den@/)
      expect(outcome).not.toContain('\n')
    },
  )

  it('Modes that verify the certificate are written as `verify-full`, so that pg writes no warning', () => {
    const url = (mode: string) => `postgres://u@db/flags?application_name=a&sslmode=${mode}`
    for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full'])
      expect(withVerifiedTls(url(mode))).toBe(url('verify-full'))
    for (const mode of ['disable', 'no-verify', 'require&uselibpqcompat=true'])
      expect(withVerifiedTls(url(mode))).toBe(url(mode))
  })

  it('The address of a URL is a host and a port, or the path of a socket', () => {
    expect(addressOf('postgres://u@db:1/flags')).toEqual({ host: 'db', port: 1 })
    expect(addressOf('postgres://u@%2Frun/flags')).toEqual({ path: '/run/.s.PGSQL.5432' })
  })
})
