import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@ff/storage/sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { fillNewStore } from './first-start.ts'

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
