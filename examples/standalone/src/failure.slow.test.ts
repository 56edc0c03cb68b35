import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postgresUrl, runOnPostgres } from '../../../packages/storage/test/postgres-schema.ts'
import { newPostgresSchema } from '../../../packages/storage/test/postgres-store.ts'
import { type Config, readConfig } from './config.ts'
import { describeFailure } from './failure.ts'
import { fillNewStore } from './first-start.ts'
import { backUp, copy, restore } from './transfer.ts'
import { findDamage } from './verify.ts'

const ADVICE = 'Check the store.'
const PASSWORD = 'a secret password'
const { host, password: encoded } = new URL(postgresUrl())
const right = decodeURIComponent(encoded)

const firstStart = (config: Config) => fillNewStore(config, () => undefined)

/** Returns the line for the error of a command, which must not contain the password. */
async function lineOf(
  env: Readonly<Record<string, string>>,
  work: (config: Config) => Promise<unknown> = firstStart,
): Promise<string> {
  const error = await work(readConfig(env)).then(
    () => new Error('The command has succeeded.'),
    (thrown: unknown) => thrown,
  )
  const line = describeFailure(error, ADVICE)
  expect(line).not.toContain(PASSWORD)
  expect(line).not.toContain(encodeURIComponent(PASSWORD))
  return line
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ff-failure-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Returns the URL of the test server with some parts replaced. */
function urlWith(parts: Partial<Pick<URL, 'host' | 'pathname' | 'username' | 'password'>>): string {
  return Object.assign(new URL(postgresUrl()), { password: PASSWORD, ...parts }).href
}

/** Creates a user with the secret password, who is dropped after the test. Returns the URL. */
async function urlOfUser(options: string): Promise<string> {
  const username = `ff_test_${randomUUID().replaceAll('-', '')}`
  await runOnPostgres(`create role ${username} login password '${PASSWORD}' ${options}`)
  onTestFinished(() => runOnPostgres(`drop role ${username}`))
  return urlWith({ username })
}

describe('a database that cannot be used', () => {
  it.each([`mysql://ff:${PASSWORD}@localhost/flags`, PASSWORD, `postgres://ff:1/${PASSWORD}@a/b`])(
    'A malformed DATABASE_URL is refused with the name of the variable',
    async (DATABASE_URL) => {
      expect(await lineOf({ DATABASE_URL })).toMatch(/^DATABASE_URL must be a URL such as "[^"]+",/)
    },
  )

  it('A server that is not listening, a wrong and an expired password, and an unknown database are named', async () => {
    const lines = await Promise.all(
      [
        urlWith({ host: '127.0.0.1:1' }),
        urlWith({}),
        await urlOfUser(`valid until '2001-01-01'`),
        urlWith({ password: right, pathname: '/absent' }),
      ].map((DATABASE_URL) => lineOf({ DATABASE_URL })),
    )
    const refused = `DATABASE_URL: PostgreSQL at ${host}/postgres refuses the user or the password`
    expect(lines).toEqual([
      expect.stringMatching(
        /^DATABASE_URL: PostgreSQL at 127\.0\.0\.1:1\/postgres cannot be reached/,
      ),
      expect.stringContaining(refused),
      expect.stringContaining(refused),
      expect.stringContaining(`DATABASE_URL: The database of ${host}/absent does not exist`),
    ])
  })

  it('A database without a free connection is named with the variables that limit connections', async () => {
    const DATABASE_URL = await urlOfUser('connection limit 0')
    const line = await lineOf({ DATABASE_URL })
    expect(line).toContain('or decrease FF_WORKERS or FF_DATABASE_CONNECTIONS')
    expect(line).not.toContain('Connections`')
  })

  it('A database with another encoding is refused', async () => {
    const name = `ff_test_${randomUUID().replaceAll('-', '')}`
    await runOnPostgres(
      `create database ${name} encoding 'SQL_ASCII' locale 'C' template template0`,
    )
    onTestFinished(() => runOnPostgres(`drop database ${name}`))
    const DATABASE_URL = urlWith({ password: right, pathname: `/${name}` })
    expect(await lineOf({ DATABASE_URL })).toBe(
      `DATABASE_URL: The database of ${host}/${name} must have the encoding UTF8 (got SQL_ASCII).`,
    )
  })

  it('A user who cannot create tables is told so', async () => {
    const { url } = await newPostgresSchema()
    const user = new URL(await urlOfUser(''))
    user.search = new URL(url).search
    const schema = /search_path=(\w+)/.exec(decodeURIComponent(user.search))?.[1]
    await runOnPostgres(`grant usage on schema ${schema} to ${user.username}`)
    onTestFinished(() => runOnPostgres(`revoke all on schema ${schema} from ${user.username}`))
    expect(await lineOf({ DATABASE_URL: user.href })).toMatch(
      /could not complete the operation: permission denied for schema \w+\. Check the store\.$/,
    )
  })
})

describe('a command that cannot run', () => {
  it('verify, backup and copy without a store name the place and the variable', async () => {
    const { url: DATABASE_URL } = await newPostgresSchema()
    const FF_DATA_DIR = newFolder()
    const path = join(FF_DATA_DIR, 'a.backup')
    const noFile = `The data file ${join(FF_DATA_DIR, 'ff.sqlite')} does not exist. Check FF_DATA_DIR.`
    const noStore = `The database of ${host}/postgres contains no store. Check DATABASE_URL.`
    expect([
      await lineOf({ FF_DATA_DIR }, findDamage),
      await lineOf({ FF_DATA_DIR }, (config) => backUp(config, path)),
      await lineOf({ FF_DATA_DIR, DATABASE_URL }, copy),
      await lineOf({ DATABASE_URL }, findDamage),
      await lineOf({ DATABASE_URL }, (config) => backUp(config, path)),
      await lineOf({ FF_DATA_DIR }, copy),
    ]).toEqual([
      ...[noFile, noFile, noFile, noStore, noStore],
      'DATABASE_URL must be set: the database to which copy writes.',
    ])
  })

  it('restore refuses a missing file, a file that is not a backup, and a place with a store', async () => {
    const { url: DATABASE_URL } = await newPostgresSchema()
    const FF_DATA_DIR = newFolder()
    const path = join(newFolder(), 'a.backup')
    const run = (config: Config) => restore(config, path)
    expect(await lineOf({ FF_DATA_DIR }, run)).toBe(`The backup ${path} does not exist.`)
    writeFileSync(path, 'text')
    for (const env of [{ FF_DATA_DIR }, { FF_DATA_DIR, DATABASE_URL }]) {
      expect(await lineOf(env, run)).toContain(`The file ${path} is damaged or is not a backup: `)
    }
    writeFileSync(join(FF_DATA_DIR, 'ff.sqlite'), 'mine')
    await runOnPostgres('create table ff_mine (id text)', DATABASE_URL)
    expect(await lineOf({ FF_DATA_DIR }, run)).toContain(`${FF_DATA_DIR} already contains a store.`)
    expect(await lineOf({ FF_DATA_DIR, DATABASE_URL }, run)).toContain('is not empty')
  })
})
