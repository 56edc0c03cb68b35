import { compileFlagSet, FlagError } from '@ff/core'
import { type FlagSetIssue, findIssues } from '@ff/core/authoring'
import type { Environment } from '@ff/protocol/management'
import {
  type DefinitionChange,
  type FlagSetChange,
  type PublicationOccasion,
  type StorageSession,
  toFlagDefinition,
  toPublishedSegment,
} from '@ff/storage'
import { engines } from '../evaluation/engines.ts'
import { type ListedKeysChange, loadListedKeysElsewhere } from './listed-keys.ts'

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

/**
 * Publishes the present definitions of everything touched, in every environment concerned.
 * Throws `INVALID_DEFINITION` when that would break what is served: a reference to nothing, a
 * cycle, a value that cannot be read. Answers what to tell the change feed after the commit.
 */
export async function publishTouched(
  session: StorageSession,
  touches: readonly Touch[],
  occasion: PublicationOccasion,
): Promise<readonly FlagSetChange[]> {
  const hints: FlagSetChange[] = []
  for (const projectId of new Set(touches.map((touch) => touch.projectId))) {
    const environments = await session.list('environment', { where: { projectId } })
    for (const environment of environments.data) {
      const here = touches.filter((touch) => isAbout(touch, environment))
      if (here.length === 0) continue
      const version = await publishIn(session, environment, { touches: here, occasion })
      hints.push({ type: 'flagSet', environmentId: environment.id, version })
    }
    const living = new Set(environments.data.map(({ id }) => id))
    const gone = touches.flatMap((touch) => goneEnvironment(touch, projectId, living))
    for (const id of new Set(gone)) hints.push(...(await publishNothing(session, id, occasion)))
  }
  return hints
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
  occasion: PublicationOccasion,
): Promise<readonly FlagSetChange[]> {
  const present = await session.loadFlagSet(environmentId)
  if (present === undefined) return []
  const changes: DefinitionChange[] = [
    ...present.segments.map(({ id }) => ({ kind: 'segment', id, definition: null }) as const),
    ...present.flags.map(({ id }) => ({ kind: 'flag', id, definition: null }) as const),
  ]
  const version = await session.publish(environmentId, changes, occasion)
  return [{ type: 'flagSet', environmentId, version }]
}

function isAbout(touch: Touch, { id, projectId }: Environment): boolean {
  if (touch.projectId !== projectId) return false
  return touch.environmentId === undefined || touch.environmentId === id
}

async function publishIn(
  session: StorageSession,
  environment: Environment,
  {
    touches,
    occasion,
  }: { readonly touches: readonly Touch[]; readonly occasion: PublicationOccasion },
): Promise<number> {
  const flagIds = new Set(touches.flatMap(({ flagId }) => flagId ?? []))
  const segmentIds = new Set(touches.flatMap(({ segmentId }) => segmentId ?? []))
  if (touches.some(({ flagId, segmentId }) => flagId === undefined && segmentId === undefined)) {
    const where = { projectId: environment.projectId }
    for (const { id } of (await session.list('flag', { where })).data) flagIds.add(id)
    for (const { id } of (await session.list('segment', { where })).data) segmentIds.add(id)
  }
  const changes: DefinitionChange[] = []
  for (const id of segmentIds) changes.push(await segmentChange(session, id))
  for (const id of flagIds) changes.push(await flagChange(session, id, environment.id))
  const before = await session.publish(environment.id, [], occasion)
  if (before === 0) changes.push(...(await loadListedKeysElsewhere(session, environment)))
  const version = await session.publish(environment.id, changes, occasion)
  if (version > before) await assertSound(session, environment.id, version)
  // Who is listed cannot break anything, so that need not be looked at again.
  return session.publish(environment.id, touches.flatMap(keysChange), occasion)
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
  const flag = await session.find('flag', id)
  if (flag === undefined || flag.archivedAt !== null) return { kind: 'flag', id, definition: null }
  const here = { where: { flagId: id, environmentId } }
  const state = (await session.list('flagState', here)).data[0]
  if (state === undefined) return { kind: 'flag', id, definition: null }
  const variations = (await session.list('variation', { where: { flagId: id } })).data
  const rules = (await session.list('targetingRule', here)).data
  const rollouts = (await session.list('rollout', here)).data
  const definition = toFlagDefinition({ flag, state, variations, rules, rollouts })
  return { kind: 'flag', id, definition }
}

/** A change must not break what is served; what was broken before it may stay so. */
async function assertSound(
  session: StorageSession,
  environmentId: string,
  version: number,
): Promise<void> {
  const issues = await loadIssues(session, environmentId)
  if (issues.length === 0) return
  const known = new Set(await loadIssues(session, environmentId, version - 1))
  const fresh = issues.filter((issue) => !known.has(issue))
  if (fresh.length > 0) throw new FlagError('INVALID_DEFINITION', fresh.join(' '))
}

async function loadIssues(
  session: StorageSession,
  environmentId: string,
  at?: number,
): Promise<readonly string[]> {
  const definition = await session.loadFlagSet(environmentId, at)
  if (definition === undefined) return []
  return findIssues(compileFlagSet(definition, { engines })).map(sentenceOf)
}

function sentenceOf({ flagKey, segmentId, message }: FlagSetIssue): string {
  if (flagKey !== undefined) return `Flag "${flagKey}": ${message}`
  return segmentId === undefined ? message : `Segment ${segmentId}: ${message}`
}
