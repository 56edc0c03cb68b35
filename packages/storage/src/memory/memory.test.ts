import {
  changeFeedContract,
  instanceReportsContract,
  rateLimiterContract,
  severalWritersContract,
  storageContract,
} from '../contract/contract.ts'
import { memory } from './memory.ts'

storageContract('memory', async () => {
  const { storage } = memory()
  return { storage, close: () => storage.close() }
})

severalWritersContract('memory', async () => {
  const { storage } = memory()
  return { storages: [storage, storage], close: () => storage.close() }
})

changeFeedContract('memory', async () => ({
  changeFeed: memory().changeFeed,
  close: async () => undefined,
}))

rateLimiterContract('memory', async () => ({
  rateLimiter: memory().rateLimiter,
  close: async () => undefined,
}))

instanceReportsContract('memory', async () => ({
  instanceReports: memory().instanceReports,
  close: async () => undefined,
}))
