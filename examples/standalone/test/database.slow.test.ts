import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EvaluationContext } from '@ff/core'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import type { Storage } from '@ff/storage'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sized } from '../../../packages/server/test/drills/scale.ts'
import {
  createPostgresSchema,
  type PostgresSchema,
} from '../../../packages/storage/test/postgres-schema.ts'
import { urlWithLimit } from '../../../packages/storage/test/postgres-store.ts'
import { DEMO_USERS } from '../src/demo/demo-traffic.ts'
import { fillNewStore } from '../src/first-start.ts'
import { openStore, type StoreConfig } from '../src/store.ts'
import { restore } from '../src/transfer.ts'
import { findDamage } from '../src/verify.ts'
import { RunningStandalone, runCommand } from './running-standalone.ts'

const ADMIN_TOKEN = 'an-administrators-own-token'
const CONTEXTS = sized({ full: 10_000, small: 300 })
/** The number of changes after which the backup under load begins. */
const CHANGES = sized({ full: 300, small: 10 })

// biome-ignore lint/suspicious/noExplicitAny: the test checks the shape of responses
type Json = any

const folder = mkdtempSync(join(tmpdir(), 'ff-database-'))
const dataDir = join(folder, 'never-created')
const running = new Set<RunningStandalone>()
const schemas: PostgresSchema[] = []
let database: PostgresSchema

async function newSchema(): Promise<PostgresSchema> {
  const schema = await createPostgresSchema()
  schemas.push(schema)
  return schema
}

function start(env: Record<string, string> = {}): RunningStandalone {
  const settings = {
    DATABASE_URL: database.url,
    FF_SECRET_KEY: 'ab'.repeat(32),
    FF_ADMIN_TOKEN: ADMIN_TOKEN,
    ...env,
  }
  const standalone = new RunningStandalone(settings, dataDir)
  running.add(standalone)
  return standalone
}

const configOf = ({ url }: PostgresSchema): StoreConfig => {
  return { dataDir, database: { url, connections: 6 } }
}

beforeAll(async () => {
  database = await newSchema()
})

afterAll(async () => {
  for (const standalone of running) await standalone.kill()
  for (const schema of schemas) await schema.drop()
  rmSync(folder, { recursive: true, force: true })
})

async function manage(url: string, method: 'GET' | 'PUT', path: string, body?: object) {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const read: Json = await answer.json()
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(read)}`)
  return read.data
}

const FLAG = '/projects/shop/envs/live/flags/checkout-enabled'
const setActive = (url: string, isActive: boolean) =>
  manage(url, 'PUT', FLAG, { is_active: isActive })
const isActive = async (url: string) => (await manage(url, 'GET', FLAG)).is_active

/** Runs `work` with a store that is closed afterwards. */
async function inStore<T>(config: StoreConfig, work: (storage: Storage) => Promise<T>): Promise<T> {
  const { storage } = openStore(config)
  try {
    await storage.migrate()
    return await work(storage)
  } finally {
    await storage.close()
  }
}

/** Returns the audit entries and the published versions of a store. */
function historyOf(config: StoreConfig) {
  return inStore(config, async (storage) => {
    const sort = { field: 'id', direction: 'asc' } as const
    const { data: entries } = await storage.list('auditEvent', { sort })
    const { data: environments } = await storage.list('environment', { sort })
    const flagSets = await Promise.all(environments.map(({ id }) => storage.loadFlagSet(id)))
    return { entries, flagSets }
  })
}

describe('servers with one database', () => {
  it('Two servers that start together on an empty database create one demo, and the changes of each reach the other', async () => {
    const servers = [start(), start()]
    const urls = await Promise.all(servers.map((each) => each.listening()))
    const texts = servers.map(({ output }) => output)
    expect(texts.filter((text) => /\bffl_[0-9a-f]{64}\b/.test(text))).toHaveLength(1)
    for (const text of texts) expect(text).toMatch(/ Data: PostgreSQL at [\d.]+:\d+\/postgres\n/)
    const [one = '', other = ''] = urls
    const { data } = await manage(other, 'GET', '/organizations')
    expect(data.map(({ name }: Json) => name)).toEqual(['Demo Shop'])
    await setActive(one, false)
    await expect.poll(() => isActive(other)).toBe(false)
    expect(existsSync(dataDir)).toBe(false)
  })

  it('A backup during changes is restored in a data folder with all audit entries and versions', async () => {
    const [server] = running
    const url = (await server?.listening()) ?? ''
    let changes = 0
    let isOver = false
    const change = async () => {
      for (; !isOver; changes += 1) await setActive(url, changes % 2 === 0)
    }
    const changing = change()
    await expect.poll(() => changes).toBeGreaterThan(CHANGES)
    const path = join(folder, 'during.backup')
    const backup = await runCommand(['backup', path], { DATABASE_URL: database.url })
    isOver = true
    await changing
    expect(backup.status, backup.log).toBe(0)
    expect(backup.output).toMatch(
      /^The backup \S+ contains \d+ rows of \d+ tables of PostgreSQL at/,
    )

    const restored = { dataDir: join(folder, 'restored') }
    await restore(restored, path)
    expect(await findDamage(restored)).toEqual([])
    const [before, after] = [await historyOf(restored), await historyOf(configOf(database))]
    const kept = new Set(before.entries.map(({ id }) => id))
    expect(before.entries).toEqual(after.entries.filter(({ id }) => kept.has(id)))
    const versions = before.flagSets.map((flagSet) => flagSet?.version ?? 0)
    const versionsAfter = after.flagSets.map((flagSet) => flagSet?.version ?? 0)
    expect(Math.max(...versions)).toBeGreaterThan(CHANGES)
    expect(Math.max(...versions)).toBeLessThan(Math.max(...versionsAfter))
    const environments = after.flagSets.map((_, index) => index)
    for (const index of environments) {
      const published = await publishedAt(configOf(database), index, versions[index] ?? 0)
      expect(published).toEqual(before.flagSets[index])
    }
  })

  it('A server that is stopped and started with two workers serves the stored changes, and `verify` finds no damage', async () => {
    for (const standalone of running) {
      standalone.stop('SIGTERM')
      expect(await standalone.ended).toBe(0)
    }
    const standalone = start({ FF_WORKERS: '2', FF_DATABASE_CONNECTIONS: '6' })
    const url = await standalone.listening()
    const stored = await isActive(url)
    await setActive(url, !stored)
    for (let n = 0; n < 4; n += 1) expect(await isActive(url)).toBe(!stored)
    expect(standalone.output).not.toMatch(/ff_|ffat_|ffl_/)
    const verified = await runCommand(['verify'], { DATABASE_URL: database.url })
    expect(verified).toMatchObject({ status: 0, log: '' })
    expect(verified.output).toMatch(/^No damage was found in PostgreSQL at/)
    standalone.stop('SIGTERM')
    expect(await standalone.ended).toBe(0)
    expect(existsSync(dataDir)).toBe(false)
  })
})

/** Returns the flag set of an environment at a version. */
function publishedAt(config: StoreConfig, index: number, version: number) {
  return inStore(config, async (storage) => {
    const sort = { field: 'id', direction: 'asc' } as const
    const { data } = await storage.list('environment', { sort })
    return storage.loadFlagSet(data[index]?.id ?? '', version)
  })
}

/** Returns contexts of users, some of them in organizations. */
function contexts(): readonly EvaluationContext[] {
  return Array.from({ length: CONTEXTS }, (_, n) => {
    const user = {
      ...DEMO_USERS[n % DEMO_USERS.length],
      key: `user-${n}`,
      app_version: `2.${n % 12}.0`,
    }
    const organization = { key: `org-${n % 7}`, orders: n % 20 }
    return n % 3 === 0 ? { kind: 'multi', user, organization } : { ...user, kind: 'user' }
  })
}

/** Evaluates all flags of the demo shop for all contexts. */
async function valuesIn(config: StoreConfig): Promise<readonly unknown[]> {
  const flags = createFlagServer({ ...openStore(config), management: createManagement() })
  try {
    await flags.start()
    const environment = { project: 'shop', environment: 'live' }
    const values: unknown[] = []
    for (const context of contexts()) values.push(await flags.allOrThrow(environment, context))
    return values
  } finally {
    await flags.close()
  }
}

it('Two servers with five connections each start together and share the six that PostgreSQL permits', async () => {
  const DATABASE_URL = await urlWithLimit(6)
  const env = { DATABASE_URL, FF_DATABASE_CONNECTIONS: '5' }
  const servers = [start(env), start(env)]
  const urls = await Promise.all(servers.map((each) => each.listening()))
  for (let round = 0; round < 10; round += 1) {
    const changes = urls.map((url) => setActive(url, round % 2 === 0))
    const reads = urls.flatMap((url) => Array.from({ length: 5 }, () => isActive(url)))
    await Promise.all<unknown>([...changes, ...reads])
  }
  for (const server of servers) await server.kill()
})

describe('copy', () => {
  it('A data folder that is copied to PostgreSQL keeps the values of all flags, and is copied once', async () => {
    const schema = await newSchema()
    const file = { dataDir: join(folder, 'file') }
    await fillNewStore(
      { ...file, adminToken: ADMIN_TOKEN, administrator: undefined },
      () => undefined,
    )
    const env = { FF_DATA_DIR: file.dataDir, DATABASE_URL: schema.url }
    const copied = await runCommand(['copy'], env)
    expect(copied, copied.log).toMatchObject({ status: 0, log: '' })
    expect(copied.output).toMatch(/contains \d+ rows of \d+ tables of \S+\. Both are equal\.\n/)
    const values = await valuesIn(file)
    expect(new Set(values.map((each) => JSON.stringify(each))).size).toBeGreaterThan(10)
    expect(await valuesIn(configOf(schema))).toEqual(values)
    expect(await findDamage(configOf(schema))).toEqual([])

    const again = await runCommand(['copy'], env)
    expect(again.status).toBe(1)
    expect(again.log).toMatch(
      /^ff cannot run: The database of \S+ is not empty: .* DATABASE_URL .*\n$/,
    )
  })
})
