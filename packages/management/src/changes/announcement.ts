import { type Clock, type Instance, type Logger, within } from '@ff/server/plane'
import type { ChangeFeed, FlagSetChange, RecentEvents, Records } from '@ff/storage'
import { chainIn } from './audit-chain.ts'

/** The services that are used after the commit of a change. */
export interface AnnouncementServices {
  readonly changeFeed: ChangeFeed
  readonly recentEvents?: RecentEvents | undefined
  readonly clock: Clock
  readonly logger: Logger
  readonly instance: Pick<Instance, 'serve' | 'writeUsage'>
}

/** What a change has committed. */
interface Committed {
  readonly hints: readonly FlagSetChange[]
  /** The audit entry. */
  readonly entry?: Records['auditEvent']
}

/** The longest time for which a change waits until this process serves it. */
const SERVE_WITHIN_MS = 250

/**
 * Loads the new versions in this process, so that the next request of the author sees the change.
 * Never throws: a version that cannot be loaded now is loaded later.
 */
export async function serve(
  { instance, logger, clock }: AnnouncementServices,
  { hints }: Pick<Committed, 'hints'>,
): Promise<void> {
  const served = hints.map(async (hint) => {
    if (hint.type === 'flagSet') await instance.serve(hint.environmentId, hint.version)
  })
  const all = Promise.allSettled(served)
  if ((await within(all, { clock, ms: SERVE_WITHIN_MS })) !== undefined) return
  logger.warn('A change was acknowledged before this process serves it', { hints })
}

/** The longest time for which a change waits until other processes have been notified of it. */
const NOTIFY_WITHIN_MS = 250

/**
 * Notifies the change feed, and adds the audit entry to the recent events. Both can continue after a
 * short time. Never throws: a missing hint only delays other processes, and a reader notices that the
 * recent events lack an entry.
 */
export async function announce(
  { changeFeed, recentEvents, logger, clock }: AnnouncementServices,
  { hints, entry }: Committed,
): Promise<void> {
  const publish = async (hint: FlagSetChange) => {
    try {
      await changeFeed.publish(hint)
    } catch (cause) {
      logger.warn('The change feed could not be notified of a change', { hint, cause })
    }
  }
  const added = entry && recentEvents?.add(chainIn(entry.id), entry)
  await within(Promise.all([...hints.map(publish), added]), { clock, ms: NOTIFY_WITHIN_MS })
}
