import { type Clock, type Job, timestampAt } from '@ff/server/plane'
import type { Storage } from '@ff/storage'

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS

/** How long a context that is not seen again is kept. */
const CONTEXTS_MS = 30 * DAY_MS

/** How long counts and sketches are kept: longer than any window that is asked for. */
const COUNTS_MS = 3 * DAY_MS

/** What was last seen within this time is removed at once: other writers wait for no more. */
const PORTION_MS = 10 * 60 * 1000

/** Removes for ever what is too old to be asked for. Doing it twice, or at once, does no harm. */
export function retentionJob(storage: Storage, clock: Clock): Job {
  const ago = (ms: number) => new Date(clock.now() - ms).toISOString()
  return {
    name: 'remove what is too old',
    everyMs: HOUR_MS,
    async run() {
      await storage.dropEvaluationCounts(ago(COUNTS_MS))
      await storage.purge('userSketch', { range: { field: 'hour', to: ago(COUNTS_MS) } })
      await purgeContexts(storage, ago(CONTEXTS_MS))
      const expired = { field: 'expiresAt', to: timestampAt(clock) } as const
      await storage.purge('idempotencyRecord', { range: expired })
    },
  }
}

/** Deletes contexts that were last seen before a timestamp, the oldest first. */
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
