import { memory } from '@ff/storage'
import { afterEach, describe, expect, it, vi } from 'vitest'
import * as main from '../../src/index.ts'
import * as node from '../../src/node/node.ts'
import { ScryptPasswordHasher } from '../../src/node/password-hasher.ts'
import { createManagedServer } from '../world/managed-server.ts'

const administrator = { email: 'root@acme.test', password: 'a password for the root' }
const PRODUCTION = /^\$scrypt\$ln=17,r=8,p=1\$/
const LOW = { log2N: 4, r: 1, p: 1 }

/** Returns the stored hash of the administrator of a server with these options. */
async function storedHash(options: object): Promise<string> {
  const { storage } = memory()
  const flags = createManagedServer({ ...options, storage, administrator })
  await flags.start()
  const [user] = (await storage.list('user', {})).data
  await flags.close()
  return user?.passwordHash ?? ''
}

describe('The cost of passwords', () => {
  afterEach(() => vi.unstubAllEnvs())

  it('No option and no environment variable changes the cost with which createManagement hashes passwords.', async () => {
    for (const name of ['FF_PASSWORD_COST', 'FF_SCRYPT_COST', 'FF_LOG2N']) vi.stubEnv(name, '4')
    const costs = { ...LOW, cost: LOW, passwordCost: LOW, scrypt: LOW, scryptCost: LOW }
    expect(await storedHash(costs)).toMatch(PRODUCTION)
  })

  it('No public entry exports the scrypt hasher, which accepts a cost.', () => {
    for (const entry of [main, node]) {
      expect(Object.values(entry)).not.toContain(ScryptPasswordHasher)
    }
  })
})
