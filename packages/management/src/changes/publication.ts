import type { Environment } from '@ff/protocol/management'
import { runInTimeSlices } from '@ff/server/plane'
import {
  type DefinitionChange,
  type FlagSetChange,
  type PublishMetadata,
  type StorageSession,
  toFlagDefinition,
  toPublishedSegment,
} from '@ff/storage'
import { type ListedKeysChange, loadListedKeysElsewhere } from './listed-keys.ts'
import type { Soundness } from './publish-check.ts'

/**
 * Something whose definition may have changed: a flag, in one environment or in all of the
 * project; a segment; or, with neither, everything in one environment.
 */
export interface Touch {
  readonly projectId: string
  readonly environmentId?: string
  readonly flagId?: string
  readonly segmentId?: string
  /** Of the segment: who joins and who leaves one of its lists. */
  readonly listedKeys?: ListedKeysChange
}

/** When and why something is published, and what is known of what is published already. */
export interface Publishing {
  readonly occasion: () => Promise<PublishMetadata>
  readonly soundness: Soundness
  /** One that is known to be there now. */
  readonly environment?: Environment | undefined
}

/**
 * Publishes the present definitions of everything touched, in every environment concerned.
 * Throws `INVALID_DEFINITION` when that would break what is served: a reference to nothing, a
 * cycle, a value that cannot be read. Answers what to tell the change feed after the commit.
 */
export async function publishTouched(
  session: StorageSession,
  touches: readonly Touch[],
  publishing: Publishing,
): Promise<readonly FlagSetChange[]> {
  const hints: FlagSetChange[] = []
  const { occasion, environment: known } = publishing
  for (const projectId of new Set(touches.map((touch) => touch.projectId))) {
    const environments = await findEnvironments(session, { touches, projectId, known })
    for (const environment of environments) {
      const here = touches.filter((touch) => isAbout(touch, environment))
      if (here.length === 0) continue
      const version = await publishIn(session, environment, { ...publishing, touches: here })
      hints.push({ type: 'flagSet', environmentId: environment.id, version })
    }
    const living = new Set(environments.map(({ id }) => id))
    const gone = touches.flatMap((touch) => goneEnvironment(touch, projectId, living))
    for (const id of new Set(gone)) hints.push(...(await publishNothing(session, id, occasion)))
  }
  return hints
}

interface Touched {
  readonly touches: readonly Touch[]
  readonly projectId: string
  readonly known: Environment | undefined
}

/** The living environments of a project; the one that is known, when nothing else is touched. */
async function findEnvironments(
  session: StorageSession,
  { touches, projectId, known }: Touched,
): Promise<readonly Environment[]> {
  const isAll = touches.every(({ environmentId }) => environmentId === known?.id)
  if (known !== undefined && isAll) return [known]
  return (await session.list('environment', { where: { projectId } })).data
}

/** The environment of a touch, when it is one of the project's that has been deleted. */
function goneEnvironment(
  { projectId, environmentId }: Touch,
  ofProject: string,
  living: ReadonlySet<string>,
): string[] {
  if (projectId !== ofProject || environmentId === undefined) return []
  return living.has(environmentId) ? [] : [environmentId]
}

/** Takes every definition out of an environment. */
async function publishNothing(
  session: StorageSession,
  environmentId: string,
  occasion: Publishing['occasion'],
): Promise<readonly FlagSetChange[]> {
  const present = await session.loadFlagSet(environmentId)
  if (present === undefined) return []
  const changes: DefinitionChange[] = [
    ...present.segments.map(({ id }) => ({ kind: 'segment', id, definition: null }) as const),
    ...present.flags.map(({ id }) => ({ kind: 'flag', id, definition: null }) as const),
  ]
  const version = await session.publish(environmentId, changes, await occasion())
  return [{ type: 'flagSet', environmentId, version }]
}

function isAbout(touch: Touch, { id, projectId }: Environment): boolean {
  if (touch.projectId !== projectId) return false
  return touch.environmentId === undefined || touch.environmentId === id
}

async function publishIn(
  session: StorageSession,
  environment: Environment,
  { touches, occasion, soundness }: Publishing & { readonly touches: readonly Touch[] },
): Promise<number> {
  const flagIds = new Set(touches.flatMap(({ flagId }) => flagId ?? []))
  const segmentIds = new Set(touches.flatMap(({ segmentId }) => segmentId ?? []))
  if (touches.some(({ flagId, segmentId }) => flagId === undefined && segmentId === undefined)) {
    const where = { projectId: environment.projectId }
    for (const { id } of (await session.list('flag', { where })).data) flagIds.add(id)
    for (const { id } of (await session.list('segment', { where })).data) segmentIds.add(id)
  }
  // The order of the changes counts, not that of the reads, which travel together.
  const [present, segments, flags] = await Promise.all([
    soundness.load(session, environment.id),
    Promise.all([...segmentIds].map((id) => segmentChange(session, id))),
    Promise.all([...flagIds].map((id) => flagChange(session, id, environment.id))),
  ])
  const changes: DefinitionChange[] = [...segments, ...flags]
  if (present.version === 0) changes.push(...(await loadListedKeysElsewhere(session, environment)))
  const keys = touches.flatMap(keysChange)
  const affectsClients = present.affectsClients([...changes, ...keys])
  const published = { ...(await occasion()), affectsClients }
  const version = await session.publish(environment.id, changes, published)
  if (version > present.version) await runInTimeSlices(present.assertSound(changes))
  // Who is listed cannot break anything, so that need not be looked at again.
  return keys.length === 0 ? version : session.publish(environment.id, keys, published)
}

function keysChange({ segmentId, listedKeys }: Touch): DefinitionChange[] {
  if (segmentId === undefined || listedKeys === undefined) return []
  return [{ kind: 'segmentKeys', segmentId, ...listedKeys }]
}

async function segmentChange(session: StorageSession, id: string): Promise<DefinitionChange> {
  const segment = await session.find('segment', id)
  const definition = segment === undefined ? null : toPublishedSegment(segment)
  return { kind: 'segment', id, definition }
}

/** A deleted flag is gone from the environment, and so is an archived one. */
async function flagChange(
  session: StorageSession,
  id: string,
  environmentId: string,
): Promise<DefinitionChange> {
  const where = { flagId: id, environmentId }
  const [flag, states, variations, rules, rollouts] = await Promise.all([
    session.find('flag', id),
    session.list('flagState', { where }),
    session.list('variation', { where: { flagId: id } }),
    session.list('targetingRule', { where }),
    session.list('rollout', { where }),
  ])
  const state = states.data[0]
  if (flag === undefined || flag.archivedAt !== null || state === undefined) {
    return { kind: 'flag', id, definition: null }
  }
  const parts = { variations: variations.data, rules: rules.data, rollouts: rollouts.data }
  const definition = toFlagDefinition({ flag, state, ...parts })
  return { kind: 'flag', id, definition }
}
