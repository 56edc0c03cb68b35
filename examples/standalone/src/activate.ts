import { type ManagementUseCases, SYSTEM } from '@ff/management'
import { createManagement } from '@ff/management/node'
import { createFlagServer, silentLogger } from '@ff/server'
import { activateStore, type Records, type Storage } from '@ff/storage'
import { existingTables, openStore, placeOf, type StoreConfig } from './store.ts'

interface Activation {
  /**
   * `true` to discard what waits, because the servers of the original have been running since the
   * copy was made: they have sent it, or applied it.
   */
  readonly discards: boolean
}

/** What a copy would do first with background jobs. */
interface Waiting {
  readonly deliveries: number
  /** The scheduled changes whose time has passed. */
  readonly changes: readonly Records['scheduledChange'][]
}

/**
 * Lets servers run background jobs with a store that was copied or restored. Returns the lines for
 * the operator.
 */
export async function activate(
  config: StoreConfig,
  { discards }: Activation,
): Promise<readonly string[]> {
  await existingTables(config)
  const { storage } = openStore(config)
  const management = createManagement()
  const flags = createFlagServer({ storage, management, jobs: 'off', logger: silentLogger })
  try {
    await storage.migrate()
    const waiting = await findWaiting(storage)
    if (discards) await discard(storage, flags.as(SYSTEM), waiting)
    const isActivated = await activateStore(storage)
    const { deliveries, changes } = waiting
    const texts = `deliveries of webhooks that wait: ${deliveries}; scheduled changes whose time has passed: ${changes.length}`
    return [
      isActivated
        ? `${placeOf(config)} is active. Running servers begin background jobs within five seconds.`
        : `${placeOf(config)} was active before.`,
      discards ? `Discarded ${texts}.` : `They first send and apply what waits (${texts}).`,
    ]
  } finally {
    await flags.close()
  }
}

async function findWaiting(storage: Storage): Promise<Waiting> {
  const where = { status: 'pending' } as const
  const range = { field: 'applyAt', to: new Date().toISOString() } as const
  const [deliveries, changes] = await Promise.all([
    storage.list('webhookDelivery', { where, limit: 1 }),
    storage.list('scheduledChange', { where, range }),
  ])
  return { deliveries: deliveries.total, changes: changes.data }
}

/** Removes the deliveries, and cancels the changes, which the audit log shows. */
async function discard(
  storage: Storage,
  management: ManagementUseCases,
  { changes }: Waiting,
): Promise<void> {
  await storage.purge('webhookDelivery', { where: { status: 'pending' } })
  const comment = 'Its time passed while the original of this copy was in use.'
  for (const { id: changeId, projectId, environmentId, flagId } of changes) {
    const params = { projectId, environmentId, flagId, changeId }
    await management.deleteScheduledChange({ params, comment })
  }
}
