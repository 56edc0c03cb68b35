import { afterEach, describe } from 'vitest'
import { describeDeliveries } from './claims/deliveries.ts'
import { describeLeases } from './claims/leases.ts'
import { describeListing } from './listing.ts'
import { describeMigrations } from './migrations.ts'
import { describeModel } from './model.ts'
import { describePositions } from './positions.ts'
import { describePublishing } from './publishing.ts'
import { describePurging } from './purging.ts'
import { describeRecords } from './records.ts'
import type { OpenStorage, StorageUnderTest } from './samples/fixtures.ts'
import { describeTransactions } from './transactions.ts'
import { describeApiCalls } from './usage/api-calls.ts'
import { describeContextSamples } from './usage/context-samples.ts'
import { describeEvaluationCounts } from './usage/evaluation-counts.ts'
import { describeLastEvaluations } from './usage/last-evaluations.ts'
import { describeSdkKeyVersion } from './version-list.ts'

export { type ChangeFeedUnderTest, changeFeedContract } from './change-feed.ts'
export { type InstanceReportsUnderTest, instanceReportsContract } from './instance-reports.ts'
export { type RateLimiterUnderTest, rateLimiterContract } from './rate-limiter.ts'
export { type RecentEventsUnderTest, recentEventsContract } from './recent-events.ts'
export type { StorageUnderTest } from './samples/fixtures.ts'
export { severalWritersContract, type WritersUnderTest } from './several-writers.ts'

/**
 * Defines the vitest tests that every store must pass. Each call of `create` returns a new, empty
 * store on which `migrate` has not been called.
 *
 * @example
 * storageContract('memory', async () => {
 *   const { storage } = memory()
 *   return { storage, close: () => storage.close() }
 * })
 */
export function storageContract(name: string, create: () => Promise<StorageUnderTest>): void {
  describe(`the storage contract: ${name}`, () => {
    const opened: StorageUnderTest[] = []

    const open: OpenStorage = async () => {
      const underTest = await create()
      opened.push(underTest)
      return underTest.storage
    }

    const openMigrated: OpenStorage = async () => {
      const storage = await open()
      await storage.migrate()
      return storage
    }

    afterEach(async () => {
      for (const { close } of opened.splice(0)) await close()
    })

    describeMigrations(open)
    describeRecords(openMigrated)
    describeListing(openMigrated)
    describePositions(openMigrated)
    describeTransactions(openMigrated)
    describePublishing(openMigrated)
    describePurging(openMigrated)
    describeSdkKeyVersion(openMigrated)
    describeEvaluationCounts(openMigrated)
    describeLastEvaluations(openMigrated)
    describeApiCalls(openMigrated)
    describeContextSamples(openMigrated)
    describeDeliveries(openMigrated)
    describeLeases(openMigrated)
    describeModel(create)
  })
}
