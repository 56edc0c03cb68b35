import { type Clock, type Job, timestampAt } from '@ff/server/plane'
import type { Storage } from '@ff/storage'
import { addPendingCalls } from '../changes/api-usage.ts'

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS

/** The time for which a context is kept after it was last seen. */
const CONTEXTS_MS = 30 * DAY_MS

/**
 * The time for which evaluation counts and user sketches (estimates of the number of users) are
 * kept. It is longer than the time range of any query.
 */
const COUNTS_MS = 3 * DAY_MS

/** The range of `lastSeen` that one statement deletes, so that other writers do not wait long. */
const PORTION_MS = 10 * 60 * 1000

/**
 * Creates the job that permanently deletes old contexts, counts and idempotency records, and merges
 * the API calls of instances. Several instances can run the job concurrently.
 */
export function retentionJob(storage: Storage, clock: Clock): Job {
  const ago = (ms: number) => new Date(clock.now() - ms).toISOString()
  return {
    name: 'delete expired data',
    everyMs: HOUR_MS,
    isShared: true,
    async run() {
      await storage.dropEvaluationCounts(ago(COUNTS_MS))
      await storage.purge('userSketch', { range: { field: 'hour', to: ago(COUNTS_MS) } })
      await purgeContexts(storage, ago(CONTEXTS_MS))
      const expired = { field: 'expiresAt', to: timestampAt(clock) } as const
      await storage.purge('idempotencyRecord', { range: expired })
      await addAllPendingCalls(storage)
    },
  }
}

/**
 * Moves all pending API calls to the records of their organizations, so that few rows are left of
 * instances that have ended. Those of a deleted organization are deleted.
 */
async function addAllPendingCalls(storage: Storage): Promise<void> {
  for (const id of (await storage.loadApiCalls()).keys()) {
    await storage.transaction(id, async (tx) => {
      const organization = await tx.find('organization', id)
      if (organization === undefined) await tx.takeApiCalls(id)
      else await addPendingCalls(tx, organization)
    })
  }
}

/** Deletes contexts that were last seen before a timestamp, oldest first. */
async function purgeContexts(storage: Storage, before: string): Promise<void> {
  const sort = { field: 'lastSeen', direction: 'asc' } as const
  for (;;) {
    const range = { field: 'lastSeen', to: before } as const
    const [oldest] = (await storage.list('observedContext', { range, sort, limit: 1 })).data
    if (oldest === undefined) return
    const end = new Date(Date.parse(oldest.lastSeen) + PORTION_MS).toISOString()
    await storage.purge('observedContext', { range: { ...range, to: end < before ? end : before } })
  }
}
