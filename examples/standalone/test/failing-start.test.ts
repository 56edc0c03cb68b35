import { spawn, spawnSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@ff/storage/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { environmentOf, PARAMETERS } from './running-standalone.ts'

/** The command that runs a program as root, but subject to the permissions of files. */
const WITHOUT_OVERRIDE = ['setpriv', '--bounding-set=-dac_override,-dac_read_search']

let parent: string
let dataDir: string

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'ff-failing-'))
  dataDir = join(parent, 'data')
})
afterEach(() => rmSync(parent, { recursive: true }))

interface Failure {
  readonly env?: Readonly<Record<string, string>>
  /** A command that runs another one. */
  readonly through?: readonly string[]
  /** The words of a command of the server; none to start it. */
  readonly words?: readonly string[]
}

/** Starts a server, expects exit code 1, and returns the text on standard error. */
function failureOf({ env = {}, through = [], words = [] }: Failure = {}): string {
  const [program = '', ...parameters] = [...through, process.execPath, ...PARAMETERS, ...words]
  const { status, stderr } = spawnSync(program, parameters, {
    env: environmentOf({ FF_DATA_DIR: dataDir, ...env }),
    encoding: 'utf8',
  })
  expect(status, stderr).toBe(1)
  return stderr
}

function newFolder(): void {
  mkdirSync(dataDir, { mode: 0o700 })
}

/** Creates a store whose schema has a migration of a later release. */
async function createLaterStore(path: string): Promise<void> {
  const { storage } = sqlite({ path })
  await storage.migrate()
  await storage.close()
  const fromStorage = createRequire(
    new URL('../../../packages/storage/package.json', import.meta.url),
  )
  const database = new (fromStorage('@photostructure/sqlite').DatabaseSync)(path)
  database.exec(`insert into ff_migration values ('9999-from-the-future')`)
  database.close()
}

/** A command that runs a program that cannot write more than 100 kB to a file. */
const WITH_SMALL_FILES = ['sh', '-c', `trap '' XFSZ; ulimit -f 200; exec "$@"`, 'sh']

describe('a backup that fails', () => {
  it('A backup that cannot be written completely ends with one line and leaves nothing behind', async () => {
    newFolder()
    const { storage } = sqlite({ path: join(dataDir, 'ff.sqlite') })
    await storage.migrate()
    const pieces = Array.from({ length: 40 }, () => randomBytes(10_000).toString('base64'))
    for (const body of pieces) {
      const frame = { createdAt: '', updatedAt: '', deletedAt: null, revision: 1 }
      const record = { id: randomUUID(), scope: randomUUID(), bodyHash: '', expiresAt: '9' }
      await storage.insert('idempotencyRecord', {
        ...record,
        ...frame,
        result: { status: 200, body },
      })
    }
    await storage.close()
    const path = join(parent, 'ff.backup')
    // Not every attempt met the error at the same moment.
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const words = ['backup', path]
      expect(failureOf({ through: WITH_SMALL_FILES, words })).toBe(
        `ff cannot run: The file ${path} cannot be written: EFBIG: file too large, write.\n`,
      )
      expect(readdirSync(parent)).toEqual(['data'])
    }
  })
})

describe('a start that fails', () => {
  it('A data folder that is a file, or that is in a file, is refused with one line', () => {
    writeFileSync(dataDir, 'mine')
    expect(failureOf()).toBe(
      `ff cannot run: The data folder ${dataDir} is a file; set FF_DATA_DIR to another path.\n`,
    )
    const below = join(dataDir, 'below')
    expect(failureOf({ env: { FF_DATA_DIR: below } })).toBe(
      `ff cannot run: The data folder ${below} has a file in its path; set FF_DATA_DIR to another path.\n`,
    )
    expect(readFileSync(dataDir, 'utf8')).toBe('mine')
  })

  it('A data folder without permission to write is refused with one line', () => {
    mkdirSync(dataDir, { mode: 0o500 })
    const through = process.getuid?.() === 0 ? WITHOUT_OVERRIDE : []
    expect(failureOf({ through })).toBe(
      `ff cannot run: The data folder ${dataDir} cannot be read and written by this user; set FF_DATA_DIR to another path.\n`,
    )
  })

  it.each(['1', '2'])(
    'A data file that is not a database is refused with one line and not changed, in %s process(es)',
    (workers) => {
      newFolder()
      const path = join(dataDir, 'ff.sqlite')
      writeFileSync(path, 'a text of a user '.repeat(100), { mode: 0o600 })
      expect(failureOf({ env: { FF_WORKERS: workers } })).toBe(
        `ff cannot run: The data file ${path} cannot be used: file is not a database. Check FF_DATA_DIR, or restore a backup.\n`,
      )
      expect(readFileSync(path, 'utf8')).toBe('a text of a user '.repeat(100))
    },
  )

  it('A store of a later release is refused with one line', async () => {
    newFolder()
    await createLaterStore(join(dataDir, 'ff.sqlite'))
    expect(failureOf()).toMatch(
      /^ff cannot run: The store was migrated by a later release \(unknown migration 9999-from-the-future\)\. Start that release or a newer one\..*\n$/,
    )
  })

  it('A damaged secret key is refused with one line', () => {
    newFolder()
    const path = join(dataDir, 'secret.key')
    writeFileSync(path, 'not a key', { mode: 0o600 })
    expect(failureOf()).toBe(
      `ff cannot run: ${path} does not contain a secret key. Restore it from a backup.\n`,
    )
    expect(readFileSync(path, 'utf8')).toBe('not a key')
  })

  it.each([
    ['mysql://ff:hidden@localhost/flags', 'DATABASE_URL must be a URL such as'],
    [
      'postgres://ff:hidden@127.0.0.1:1/flags',
      'DATABASE_URL: PostgreSQL at 127.0.0.1:1/flags cannot',
    ],
  ])(
    'A database that cannot be used, %s, is refused with one line without the password',
    (DATABASE_URL, start) => {
      const line = failureOf({
        env: { DATABASE_URL, FF_SECRET_KEY: 'ab'.repeat(32), FF_WORKERS: '2' },
      })
      expect(line).toMatch(/^ff cannot run: .*\n$/)
      expect(line).toContain(start)
      expect(line).not.toContain('hidden')
      expect(existsSync(dataDir)).toBe(false)
    },
  )

  it('A database without FF_SECRET_KEY is refused with one line', () => {
    expect(failureOf({ env: { DATABASE_URL: 'postgres://127.0.0.1:1/flags' } })).toMatch(
      /^ff cannot run: FF_SECRET_KEY must be set if DATABASE_URL is set, .*\n$/,
    )
  })

  it('A misspelled variable is named before the error that it causes', () => {
    const env = { FF_ADMIN_EMAIL: 'root@acme.test', FF_ADMIN_PASWORD: 'a password for the root' }
    expect(failureOf({ env }).split('\n')).toEqual([
      'FF_ADMIN_PASWORD is not a known variable. Did you mean FF_ADMIN_PASSWORD?',
      expect.stringMatching(/^ff cannot run: FF_ADMIN_PASSWORD must have/),
      '',
    ])
  })

  it('A first start whose output cannot be written creates no store', async () => {
    const env = environmentOf({ FF_DATA_DIR: dataDir })
    const child = spawn(process.execPath, PARAMETERS, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.destroy()
    let log = ''
    child.stderr.on('data', (text) => {
      log += text
    })
    expect(await once(child, 'close')).toEqual([1, null])
    expect(log).toBe('ff cannot run: write EPIPE\n')
    expect(existsSync(join(dataDir, 'ff.sqlite'))).toBe(false)
  })
})
