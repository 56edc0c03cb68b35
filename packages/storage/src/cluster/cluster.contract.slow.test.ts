import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { linkPair } from '../../test/link-pair.ts'
import {
  changeFeedContract,
  instanceReportsContract,
  rateLimiterContract,
  severalWritersContract,
  storageContract,
} from '../contract/contract.ts'
import { Primary } from './primary.ts'
import { workerCapabilities } from './worker-capabilities.ts'

storageContract('a worker of a cluster', async () => {
  const { storage, close } = await openWorker()
  return { storage, close }
})

severalWritersContract('two workers of a cluster', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ff-cluster-'))
  const path = join(folder, 'flags.db')
  const primary = new Primary(path)
  const workers = [linkPair(), linkPair()].map(([atPrimary, atWorker]) => {
    primary.serve(atPrimary)
    return { storage: workerCapabilities(path, atWorker).storage, end: () => atWorker.end() }
  })
  const [first, second] = workers.map(({ storage }) => storage)
  if (first === undefined || second === undefined) throw new Error('There are two workers.')
  const close = async () => {
    for (const { storage } of workers) await storage.close()
    await primary.close()
    for (const { end } of workers) end()
    await rm(folder, { recursive: true })
  }
  return { storages: [first, second], close }
})

changeFeedContract('a worker of a cluster', async () => {
  const { changeFeed, close } = await openWorker()
  return { changeFeed, close }
})

rateLimiterContract('a worker of a cluster', async () => {
  const { rateLimiter, close } = await openWorker()
  return { rateLimiter, close }
})

instanceReportsContract('a worker of a cluster', async () => {
  const { instanceReports, close } = await openWorker()
  return { instanceReports, close }
})

/** Opens one worker and its primary. */
async function openWorker() {
  const folder = await mkdtemp(join(tmpdir(), 'ff-cluster-'))
  const path = join(folder, 'flags.db')
  const [atPrimary, atWorker] = linkPair()
  const primary = new Primary(path)
  primary.serve(atPrimary)
  const capabilities = workerCapabilities(path, atWorker)
  const close = async () => {
    await capabilities.storage.close()
    await primary.close()
    atWorker.end()
    await rm(folder, { recursive: true })
  }
  return { ...capabilities, close }
}
