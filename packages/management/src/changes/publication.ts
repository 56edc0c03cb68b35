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
import { assertPublishable, type PublishChecks } from './publish-check.ts'

/**
 * An entity with a definition that a change can affect. With `flagId`, it is a flag, in one
 * environment or in all environments of the project. With `segmentId`, it is a segment. With
 * neither, it is all flags and segments of one environment.
 */
export interface AffectedEntity {
  readonly projectId: string
  readonly environmentId?: string
  readonly flagId?: string
  readonly segmentId?: string
  /** The keys that a change adds to and removes from a list of the segment. */
  readonly listedKeys?: ListedKeysChange
}

/** The publish metadata and the publish check of a change. */
export interface PublishOptions {
  readonly metadata: () => Promise<PublishMetadata>
  readonly publishCheck: PublishChecks
  /** An environment that is already loaded; saves a query if no other one is affected. */
  readonly environment?: Environment | undefined
}

/**
 * Publishes the current definitions of all affected entities, in every environment that has them.
 * Returns the changes to send to the change feed after the commit. Throws `INVALID_DEFINITION` if
 * a definition would become invalid: an unresolvable reference, a cycle, or an unreadable value.
 */
export async function publishAffected(
  session: StorageSession,
  affected: readonly AffectedEntity[],
  options: PublishOptions,
): Promise<readonly FlagSetChange[]> {
  const hints: FlagSetChange[] = []
  const { metadata, environment: known } = options
  for (const projectId of new Set(affected.map((entity) => entity.projectId))) {
    const environments = await findEnvironments(session, { affected, projectId, known })
    for (const environment of environments) {
      const here = affected.filter((entity) => isIn(entity, environment))
      if (here.length === 0) continue
      const version = await publishIn(session, environment, { ...options, affected: here })
      hints.push({ type: 'flagSet', environmentId: environment.id, version })
    }
    const living = new Set(environments.map(({ id }) => id))
    const deleted = affected.flatMap((entity) => deletedEnvironment(entity, projectId, living))
    for (const id of new Set(deleted)) hints.push(...(await publishDeletion(session, id, metadata)))
  }
  return hints
}

interface EnvironmentQuery {
  readonly affected: readonly AffectedEntity[]
  readonly projectId: string
  readonly known: Environment | undefined
}

/** Returns the environments of a project; only `known` if no other one is affected. */
async function findEnvironments(
  session: StorageSession,
  { affected, projectId, known }: EnvironmentQuery,
): Promise<readonly Environment[]> {
  const isAll = affected.every(({ environmentId }) => environmentId === known?.id)
  if (known !== undefined && isAll) return [known]
  return (await session.list('environment', { where: { projectId } })).data
}

/**
 * Returns an array with the id of an entity's environment if the environment is deleted; otherwise
 * an empty array.
 */
function deletedEnvironment(
  { projectId, environmentId }: AffectedEntity,
  ofProject: string,
  living: ReadonlySet<string>,
): string[] {
  if (projectId !== ofProject || environmentId === undefined) return []
  return living.has(environmentId) ? [] : [environmentId]
}

/** Publishes the deletion of every definition of an environment. */
async function publishDeletion(
  session: StorageSession,
  environmentId: string,
  metadata: PublishOptions['metadata'],
): Promise<readonly FlagSetChange[]> {
  const present = await session.loadFlagSet(environmentId)
  if (present === undefined) return []
  const changes: DefinitionChange[] = [
    ...present.segments.map(({ id }) => ({ kind: 'segment', id, definition: null }) as const),
    ...present.flags.map(({ id }) => ({ kind: 'flag', id, definition: null }) as const),
  ]
  const version = await session.publish(environmentId, changes, await metadata())
  return [{ type: 'flagSet', environmentId, version }]
}

function isIn(entity: AffectedEntity, { id, projectId }: Environment): boolean {
  if (entity.projectId !== projectId) return false
  return entity.environmentId === undefined || entity.environmentId === id
}

async function publishIn(
  session: StorageSession,
  environment: Environment,
  {
    affected,
    metadata,
    publishCheck,
  }: PublishOptions & { readonly affected: readonly AffectedEntity[] },
): Promise<number> {
  const flagIds = new Set(affected.flatMap(({ flagId }) => flagId ?? []))
  const segmentIds = new Set(affected.flatMap(({ segmentId }) => segmentId ?? []))
  if (affected.some(({ flagId, segmentId }) => flagId === undefined && segmentId === undefined)) {
    const where = { projectId: environment.projectId }
    for (const { id } of (await session.list('flag', { where })).data) flagIds.add(id)
    for (const { id } of (await session.list('segment', { where })).data) segmentIds.add(id)
  }
  // Only the order of the changes matters, so the reads run concurrently.
  const [present, segments, flags] = await Promise.all([
    publishCheck.load(session, environment.id),
    Promise.all([...segmentIds].map((id) => segmentChange(session, id))),
    Promise.all([...flagIds].map((id) => flagChange(session, id, environment.id))),
  ])
  const changes: DefinitionChange[] = [...segments, ...flags]
  if (present.version === 0) changes.push(...(await loadListedKeysElsewhere(session, environment)))
  const keys = affected.flatMap(keysChange)
  const affectsClients = present.affectsClients([...changes, ...keys])
  const published = { ...(await metadata()), affectsClients }
  const version = await session.publish(environment.id, changes, published)
  if (version > present.version) await runInTimeSlices(assertPublishable(present, changes))
  // Listed keys cannot make a definition invalid, so they need no check.
  return keys.length === 0 ? version : session.publish(environment.id, keys, published)
}

function keysChange({ segmentId, listedKeys }: AffectedEntity): DefinitionChange[] {
  if (segmentId === undefined || listedKeys === undefined) return []
  return [{ kind: 'segmentKeys', segmentId, ...listedKeys }]
}

async function segmentChange(session: StorageSession, id: string): Promise<DefinitionChange> {
  const segment = await session.find('segment', id)
  const definition = segment === undefined ? null : toPublishedSegment(segment)
  return { kind: 'segment', id, definition }
}

/** Returns the change of a flag. Its definition is `null` if the flag is deleted or archived. */
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
