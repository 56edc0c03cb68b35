import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@ff/storage/sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { newPostgresSchema } from '../../../packages/storage/test/postgres-store.ts'
import type { DemoSecrets } from './demo/demo.ts'
import { fillNewStore } from './first-start.ts'
import { openStore, tablesOf } from './store.ts'

const SETTINGS = { adminToken: undefined, administrator: undefined }

let dataDir: string

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'ff-fill-'))
})
afterEach(() => rmSync(dataDir, { recursive: true }))

const fill = (print: (text: string) => void) =>
  fillNewStore({ ...SETTINGS, dataDir }, (lines) => print(lines.join('\n')))

const isFinished = () => existsSync(join(dataDir, 'ff.sqlite'))

it('The store gets its final name after its secrets are printed', async () => {
  let printed = ''
  const secrets = await fill((text) => {
    printed += text
    expect(isFinished()).toBe(false)
  })
  expect(isFinished()).toBe(true)
  expect(printed).toContain(secrets?.adminToken)
  for (const { key } of secrets?.sdkKeys ?? []) expect(printed).toContain(key)
  expect(printed).toContain(secrets?.ownerLink)
  expect(await fill((text) => expect(text).toBe('never printed'))).toBeUndefined()
})

it('A first start that cannot print its secrets is followed by another first start', async () => {
  const refusal = new Error('write EPIPE')
  const refused = fill(() => {
    throw refusal
  })
  await expect(refused).rejects.toThrow(refusal)
  expect(isFinished()).toBe(false)
  expect(await fill(() => undefined)).toHaveProperty('adminToken')
  expect(readdirSync(dataDir)).toEqual(['ff.sqlite'])
})

it('A first start with an administrator adds no owner, and creates no one-time link', async () => {
  const administrator = { email: 'root@acme.test', password: 'a password for the root' }
  const secrets = await fillNewStore({ ...SETTINGS, dataDir, administrator }, (lines) => {
    expect(lines.join()).not.toContain('ffl_')
  })
  expect(secrets).not.toHaveProperty('ownerLink')
  const { storage } = sqlite({ path: join(dataDir, 'ff.sqlite') })
  await storage.migrate()
  expect((await storage.list('member', {})).total).toBe(0)
  expect((await storage.list('organization', {})).total).toBe(1)
  await storage.close()
})

it('Of two simultaneous first starts, the first to finish creates the store and the other one fails', async () => {
  let content: Buffer | undefined
  const slower = fillNewStore({ ...SETTINGS, dataDir }, async () => {
    await fill(() => undefined)
    content = readFileSync(join(dataDir, 'ff.sqlite'))
  })
  await expect(slower).rejects.toThrow(/^Another process has created a store/)
  expect(readFileSync(join(dataDir, 'ff.sqlite')).equals(content ?? Buffer.of())).toBe(true)
})

async function newDatabase() {
  const { url } = await newPostgresSchema()
  return { ...SETTINGS, dataDir: join(dataDir, 'absent'), database: { url, connections: 6 } }
}

it('Of several simultaneous first starts on one database, one prints its secrets, and its demo is created', async () => {
  const settings = await newDatabase()
  const printed: string[] = []
  const start = () => fillNewStore(settings, (lines) => void printed.push(...lines))
  const created = (await Promise.all([start(), start(), start()])).filter(
    (each): each is DemoSecrets => each !== undefined,
  )
  expect(created).toHaveLength(1)
  expect(printed.join().match(/ffat_[0-9a-f]{64}/g)).toEqual([created[0]?.adminToken])
  expect(printed[1]).toMatch(/^ {2}PostgreSQL at \S+\/postgres is new/)
  const { storage } = openStore(settings)
  await storage.migrate()
  for (const kind of ['organization', 'member'] as const) {
    expect((await storage.list(kind, {})).total, kind).toBe(1)
  }
  await storage.close()
  expect(await start()).toBeUndefined()
  expect(readdirSync(dataDir)).toEqual([])
})

it('A first start on a database that cannot print its secrets is followed by another first start', async () => {
  const settings = await newDatabase()
  const refused = fillNewStore(settings, () => Promise.reject(new Error('write EPIPE')))
  await expect(refused).rejects.toThrow('write EPIPE')
  expect(await tablesOf(settings).exists()).toBe(false)
  expect(await fillNewStore(settings, () => undefined)).toHaveProperty('adminToken')
})
