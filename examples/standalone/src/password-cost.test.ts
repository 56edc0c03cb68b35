import { memory } from '@ff/storage'
import { expect, it } from 'vitest'
import { readConfig } from './config.ts'
import { createFlags } from './serve.ts'

it('No environment variable changes the cost with which the standalone server hashes passwords.', async () => {
  const administrator = { FF_ADMIN_EMAIL: 'root@acme.test', FF_ADMIN_PASSWORD: 'a long password' }
  const costs = { FF_PASSWORD_COST: '4', FF_SCRYPT_COST: '4', FF_LOG2N: '4' }
  const keys = { FF_SECRET_KEY: 'c'.repeat(64), FF_LOG_LEVEL: 'silent' }
  const config = readConfig({ ...administrator, ...costs, ...keys })
  const store = memory()
  const flags = await createFlags(config, store)
  await flags.start()
  const [user] = (await store.storage.list('user', {})).data
  expect(user?.passwordHash).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$/)
  await flags.close()
})
