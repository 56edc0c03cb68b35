import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storageContract } from '@ff/storage/contract'
import { logStorage } from './log-storage.ts'

// #region contract
storageContract('an append-only log', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ff-log-'))
  const storage = logStorage(join(folder, 'flags.log'))
  const close = async () => {
    await storage.close()
    await rm(folder, { recursive: true })
  }
  return { storage, close }
})
// #endregion
