import type { StorageSession } from '@ff/storage'
import { HyperLogLog } from './hyper-log-log.ts'

/** Whose users are counted, and when: `from <= time < to`, timestamps, to the hour. */
interface UniqueUsersQuery {
  readonly environmentId: string
  readonly flagId: string
  readonly from: string
  readonly to: string
}

/**
 * About how many distinct context keys a flag was evaluated for: the union of what all instances
 * have seen, of the flag alone and of all flags together. An hour that has begun before `from`
 * counts as a whole.
 */
export async function countUniqueUsers(
  storage: Pick<StorageSession, 'list'>,
  { environmentId, flagId, from, to }: UniqueUsersQuery,
): Promise<number> {
  const range = { field: 'hour', from: hourOf(Date.parse(from)), to } as const
  const users = HyperLogLog.empty()
  for (const whose of [null, flagId]) {
    const where = { environmentId, flagId: whose }
    const { data } = await storage.list('userSketch', { where, range })
    for (const { registers } of data) users.merge(HyperLogLog.parse(registers))
  }
  return Math.round(users.estimate())
}

export const HOUR_MS = 3_600_000

/** The timestamp at which the hour of an instant begins. */
export function hourOf(now: number): string {
  return new Date(Math.floor(now / HOUR_MS) * HOUR_MS).toISOString()
}
