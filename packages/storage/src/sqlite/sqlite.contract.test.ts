import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { severalWritersContract, storageContract } from '../contract/contract.ts'
import { sqlite } from './sqlite.ts'

// #region contract
storageContract('SQLite, a file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ff-sqlite-'))
  const { storage } = sqlite({ path: join(folder, 'flags.db') })
  const close = async () => {
    await storage.close()
    await rm(folder, { recursive: true })
  }
  return { storage, close }
})
// #endregion

severalWritersContract('SQLite, two stores on one file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ff-sqlite-'))
  const path = join(folder, 'flags.db')
  const storages = [sqlite({ path }).storage, sqlite({ path }).storage] as const
  const close = async () => {
    for (const storage of storages) await storage.close()
    await rm(folder, { recursive: true })
  }
  return { storages, close }
})

storageContract('SQLite, in memory', async () => {
  const { storage } = sqlite({ path: ':memory:' })
  return { storage, close: () => storage.close() }
})

storageContract("SQLite, the host's database", async () => {
  const database = new DatabaseSync(':memory:')
  const { storage } = sqlite({ database })
  const close = async () => {
    await storage.close()
    database.close()
  }
  return { storage, close }
})
