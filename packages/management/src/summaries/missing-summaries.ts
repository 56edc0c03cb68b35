import type { Job } from '@ff/server/plane'
import type { Records, Storage } from '@ff/storage'
import { rederiveSummaries } from './update-summaries.ts'

const EVERY_MS = 10_000

/** The number of flags whose summaries are derived in one transaction. */
const PORTION = 50

/**
 * Creates the job that derives the summaries of flags that have none, because an earlier release
 * wrote them. Each transaction is short, so that other writers do not wait long. Several instances
 * can run the job concurrently.
 */
export function missingSummariesJob(storage: Storage): Job {
  return {
    name: 'derive missing summaries of flags',
    everyMs: EVERY_MS,
    isShared: true,
    async run() {
      for (;;) {
        const query = { where: { summary: null }, limit: PORTION, isCounted: false }
        const { data } = await storage.list('flag', query)
        if (data.length === 0) return
        await deriveMissing(storage, data)
      }
    },
  }
}

/** Derives the summaries of flags, in one transaction for each project. */
async function deriveMissing(storage: Storage, flags: readonly Records['flag'][]): Promise<void> {
  for (const projectId of new Set(flags.map((flag) => flag.projectId))) {
    const project = await storage.find('project', projectId)
    const ofProject = flags.filter((flag) => flag.projectId === projectId)
    await storage.transaction(project?.orgId ?? projectId, (session) =>
      rederiveSummaries(
        session,
        ofProject.map(({ id: flagId }) => ({ projectId, flagId })),
      ),
    )
  }
}
