import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { assertSharedKey, secretKeysOf } from './secret-key.ts'

const GIVEN = 'ab'.repeat(32)

let dataDir: string

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'ff-key-'))
})
afterEach(() => rmSync(dataDir, { recursive: true }))

it('A key is created once, readable only by the owner, and read at later starts', async () => {
  const made = await secretKeysOf({ dataDir, secretKeys: [] })
  expect(made).toEqual([expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/)])
  const path = join(dataDir, 'secret.key')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readFileSync(path, 'utf8')).toBe(`${made[0]}\n`)
  expect(await secretKeysOf({ dataDir, secretKeys: [] })).toEqual(made)
})

it('A partially written key of an interrupted start is not used', async () => {
  writeFileSync(join(dataDir, 'secret.key.new'), 'half', { mode: 0o644 })
  const made = await secretKeysOf({ dataDir, secretKeys: [] })
  expect(made[0]).toHaveLength(44)
  expect(statSync(join(dataDir, 'secret.key')).mode & 0o777).toBe(0o600)
})

it('With configured keys no key is created, and a stored key is only used to decrypt', async () => {
  expect(await secretKeysOf({ dataDir, secretKeys: [GIVEN] })).toEqual([GIVEN])
  expect(existsSync(join(dataDir, 'secret.key'))).toBe(false)
  const [made] = await secretKeysOf({ dataDir, secretKeys: [] })
  expect(await secretKeysOf({ dataDir, secretKeys: [GIVEN] })).toEqual([GIVEN, made])
})

it('With a database the key must be configured, and the data folder is not used', async () => {
  const database = { url: 'postgres://localhost/flags', connections: 40 }
  expect(() => assertSharedKey({ database, secretKeys: [] })).toThrow(
    /^FF_SECRET_KEY must be set if/,
  )
  expect(() => assertSharedKey({ database, secretKeys: [GIVEN] })).not.toThrow()
  expect(() => assertSharedKey({ secretKeys: [] })).not.toThrow()
  await secretKeysOf({ dataDir, secretKeys: [] })
  expect(await secretKeysOf({ dataDir, database, secretKeys: [GIVEN] })).toEqual([GIVEN])
})
