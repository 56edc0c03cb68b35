import type { StorageSession } from '@ff/storage'
import { HyperLogLog } from './hyper-log-log.ts'

/** A flag and a period, `from <= time < to`: timestamps, to the hour. */
interface UniqueUsersQuery {
  readonly environmentId: string
  readonly flagId: string
  readonly from: string
  readonly to: string
}

/**
 * Estimates for how many distinct context keys a flag was evaluated, alone or with all flags, on all
 * instances. An hour that has begun before `from` counts as a whole.
 */
export async function countUniqueUsers(
  storage: Pick<StorageSession, 'list'>,
  { environmentId, flagId, from, to }: UniqueUsersQuery,
): Promise<number> {
  const range = { field: 'hour', from: hourOf(Date.parse(from)), to } as const
  const users = HyperLogLog.empty()
  for (const owner of [null, flagId]) {
    const where = { environmentId, flagId: owner }
    const { data } = await storage.list('userSketch', { where, range })
    for (const { registers } of data) users.merge(HyperLogLog.parse(registers))
  }
  return Math.round(users.estimate())
}

export const HOUR_MS = 3_600_000

/** Returns the timestamp at which the hour of a time begins. */
export function hourOf(now: number): string {
  return new Date(Math.floor(now / HOUR_MS) * HOUR_MS).toISOString()
}
