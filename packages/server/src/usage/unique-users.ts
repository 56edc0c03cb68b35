import type { EvaluationCountQuery, FlagPublication, Records, StorageSession } from '@ff/storage'
import { HyperLogLog } from './hyper-log-log.ts'
import { hourOf } from './user-sketches.ts'

type UserSketch = Records['userSketch']

/**
 * Returns the approximate number of distinct context keys for which a flag was evaluated, alone or
 * with other flags, on all instances. An hour that contains `from` counts as a whole.
 */
export async function countUniqueUsers(
  storage: Pick<StorageSession, 'list' | 'loadFlagHistory'>,
  { environmentId, flagId, from, to }: EvaluationCountQuery,
): Promise<number> {
  const range = { field: 'hour', from: hourOf(Date.parse(from)), to } as const
  const sketchesOf = async (owner: string | null) => {
    const where = { environmentId, flagId: owner }
    return (await storage.list('userSketch', { where, range, isCounted: false })).data
  }
  const ofAll = await sketchesOf(null)
  const versions = ofAll.flatMap(({ firstVersion }) => firstVersion ?? [])
  const since = Math.min(...versions)
  const history =
    versions.length === 0 ? [] : await storage.loadFlagHistory({ environmentId, flagId, since })
  const shared = ofAll.filter((sketch) => includesFlag(sketch, history))
  const users = new HyperLogLog()
  for (const { registers } of [...(await sketchesOf(flagId)), ...shared]) {
    users.merge(HyperLogLog.parse(registers))
  }
  return Math.round(users.estimate())
}

/** Returns `true` if the users of a sketch of all flags have received the flag with this history. */
function includesFlag(
  { keyKind, firstVersion, lastVersion }: UserSketch,
  history: readonly FlagPublication[],
): boolean {
  // Earlier releases did not store the versions.
  if (keyKind === null || firstVersion === null || lastVersion === null) return true
  const atFirst = history.findLast(({ version }) => version <= firstVersion)
  const later = history.filter(({ version }) => version > firstVersion && version <= lastVersion)
  return [atFirst, ...later].every((publication) => isReceivedBy(keyKind, publication))
}

function isReceivedBy(
  keyKind: NonNullable<UserSketch['keyKind']>,
  publication: FlagPublication | undefined,
): boolean {
  const definition = publication?.definition ?? null
  return definition !== null && (keyKind === 'server' || definition.clientVisible !== false)
}
