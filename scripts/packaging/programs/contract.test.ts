// Runs the contract suites with the vitest and fast-check of the project.
import { memory } from '@ff/storage'
import { rateLimiterContract, storageContract } from '@ff/storage/contract'

storageContract('memory', async () => {
  const { storage } = memory()
  return { storage, close: () => storage.close() }
})

rateLimiterContract('memory', async () => ({
  rateLimiter: memory().rateLimiter,
  close: async () => undefined,
}))
