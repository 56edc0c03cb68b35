import { isId } from '@ff/protocol/management'
import type { Records, StorageSession } from '@ff/storage'
import type { Actor } from './actors.ts'
import { findByIdOrKey } from './id-or-key.ts'
import {
  type IdName,
  type KeyedId,
  type Loaded,
  NAMED_BY_KEY,
  type RecordsById,
  STEPS,
  type Step,
} from './path-steps.ts'
import {
  type Access,
  assertPermittedOnInstallation,
  assertRoleMay,
  notFound,
  permitted,
} from './permissions.ts'
import { findProject } from './project-keys.ts'

/**
 * The ids of the records that a use case loads. Without ids, the use case concerns the whole
 * installation. A project, and an environment, flag or segment of a project, can also be named by
 * its key.
 */
export type Ids = { readonly [Name in IdName]?: string } & {
  /** `true` for records that belong to no organization and that all members can read. */
  readonly catalogue?: true
}

/** No ids: the use case concerns the whole installation. */
export type NoIds = Readonly<Record<never, never>>

type Intersection<Union> = (Union extends unknown ? (member: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never

/** The ids that determine the organization of a path. */
type OwnedId = 'orgId' | 'projectId' | 'environmentId'

/**
 * The records that are loaded for the ids `I`. If `I` has a flag id and an environment id, the
 * state of the flag in the environment is loaded as well.
 */
export type PathOf<I> = I extends unknown
  ? {
      readonly organization: OwnedId & keyof I extends never ? null : Records['organization']
    } & ([IdName & keyof I] extends [never]
      ? unknown
      : Intersection<RecordsById[IdName & keyof I]>) &
      ('flagId' | 'environmentId' extends keyof I ? Loaded<'state', 'flagState'> : unknown)
  : never

/** The records that any path can contain. `organization` is `null` for the whole installation. */
export interface AnyPath {
  readonly organization: Records['organization'] | null
  readonly project?: Records['project']
  readonly environment?: Records['environment']
}

/** A record of any kind, from which only ids are read. */
type PathRecord = Readonly<Record<string, unknown>>

/** Returns the ids, in which the ids of the loaded records replace the keys. */
export function resolvedIds<I extends object>(ids: I, path: object): I {
  const records: Readonly<Record<string, unknown>> = { ...path }
  const entries = Object.entries(NAMED_BY_KEY).flatMap(([id, name]) => {
    const record = records[name] as PathRecord | undefined
    return id in ids && record !== undefined ? [[id, record['id']]] : []
  })
  return { ...ids, ...Object.fromEntries(entries) }
}

/** Returns the record that the last parameter of an endpoint's path names. */
export function lastRecordOf(path: object, { path: template }: { readonly path: string }): object {
  const id = template.slice(template.lastIndexOf('{') + 1, template.lastIndexOf('}'))
  const name = STEPS.find(({ by }) => by.at(-1) === id)?.name ?? ''
  const records: Readonly<Record<string, object | undefined>> = { ...path }
  return records[name] ?? {}
}

/**
 * Loads the records with these ids or keys and checks the access to their organization. Throws
 * `NOT_FOUND` for a record that does not exist or does not belong to its parents, and `FORBIDDEN`
 * if the role lacks the permission. The records are read concurrently and checked in the order of
 * `STEPS`. Only a record that is found by its key is read before the records that depend on it.
 */
export async function loadPath<I extends Ids>(
  session: StorageSession,
  access: Access,
  ids: I,
): Promise<PathOf<I>> {
  const steps = STEPS.filter(({ by }) => by.every((id) => ids[id] !== undefined))
  const likelyId = ids.orgId ?? access.actor.orgId
  const records = new Map<string, Promise<PathRecord | undefined>>()
  const search = { session, actor: access.actor, ids, found: records }
  const [likely, ...loaded] = await Promise.all([
    likelyId === null ? undefined : session.find('organization', likelyId),
    ...steps.map((step) => {
      const record = findRecord(search, step)
      records.set(step.name, record)
      return record
    }),
  ])
  const found = new Map(steps.map(({ name }, index) => [name, loaded[index]]))
  const root = await loadRoot(session, { ids, found, likely })
  const organization = decideAccess(access, ids, {
    ...root,
    thing: thingOf(ids, steps),
  })
  const resolved: Ids = resolvedIds(ids, Object.fromEntries(found))
  const owners = { ...resolved, orgId: organization?.id, projectId: root.project?.id }
  for (const { name, thing, parents } of steps) {
    const record = found.get(name)
    const isInPath = parents.every((parent) => record?.[parent] === owners[parent])
    if (record === undefined || !isInPath) throw notFound(thing)
  }
  const project = root.project && { project: root.project }
  // The loop above guarantees a record for each id, which the compiler cannot see.
  return { ...Object.fromEntries(found), ...project, organization } as unknown as PathOf<I>
}

/** Returns the word for the record of a path that determines its organization. */
function thingOf({ orgId, projectId, flagId }: Ids, steps: readonly Step[]): string | undefined {
  if (orgId !== undefined) return undefined
  return projectId === undefined && flagId !== undefined ? 'flag' : steps[0]?.thing
}

interface Search {
  readonly session: StorageSession
  readonly actor: Actor
  readonly ids: Ids
  /** The records of the earlier steps, by their names. */
  readonly found: ReadonlyMap<string, Promise<PathRecord | undefined>>
}

/** Returns the record of a step; `undefined` if there is none. */
async function findRecord(search: Search, { kind, by }: Step): Promise<PathRecord | undefined> {
  const { session, actor, ids } = search
  const [id = 'planId', ...others] = by
  if (others.length > 0) return findByIds(search, { kind, by })
  const text = ids[id] ?? ''
  if (kind === 'project') return toPathRecord(await findProject(session, actor, ids))
  // Keys are unique only within a project.
  const isKeyed = kind === 'environment' || kind === 'flag' || kind === 'segment'
  if (!isKeyed || ids.projectId === undefined) return toPathRecord(await session.find(kind, text))
  return toPathRecord(await findByIdOrKey(session, kind, { text, parent: projectOf(search) }))
}

/** Returns the field of all records of the project of a path; `undefined` without a project. */
async function projectOf({ found }: Search) {
  const project = await found.get('project')
  return project && { projectId: String(project['id']) }
}

/**
 * Returns the record that several ids together identify. Waits for the records that are named by
 * their keys. If no record has the ids, and some of them are keys in the form of ids, a second
 * query uses the ids of the named records.
 */
async function findByIds(
  { session, ids, found }: Search,
  { kind, by }: Pick<Step, 'kind' | 'by'>,
): Promise<PathRecord | undefined> {
  const find = async (where: object) =>
    toPathRecord((await session.list(kind, { where, limit: 1, isCounted: false })).data[0])
  const isKey = by.some((name) => name in NAMED_BY_KEY && !isId(ids[name] ?? ''))
  const named = by.map((name) => [name, ids[name]?.toLowerCase()])
  const direct = isKey ? undefined : await find(Object.fromEntries(named))
  if (direct !== undefined) return direct
  const resolve = async (name: IdName) => {
    const record = name in NAMED_BY_KEY ? await found.get(NAMED_BY_KEY[name as KeyedId]) : undefined
    return [name, name in NAMED_BY_KEY ? record?.['id'] : ids[name]]
  }
  const resolved = await Promise.all(by.map(resolve))
  const isUnknown = resolved.some(([, id]) => id === undefined)
  const isSame = resolved.every(([, id], index) => id === named[index]?.[1])
  return isUnknown || isSame ? undefined : find(Object.fromEntries(resolved))
}

function toPathRecord(record: object | undefined): PathRecord | undefined {
  return record as PathRecord | undefined
}

interface FoundRecords {
  readonly ids: Ids
  readonly found: ReadonlyMap<string, PathRecord | undefined>
  readonly likely: Records['organization'] | undefined
}

interface Root {
  readonly organization: Records['organization'] | undefined
  readonly project: Records['project'] | undefined
}

/**
 * Returns the project and the organization of a path. Without a project id, the project is that of
 * the flag, or of the environment if there is no flag id. `likely` is the organization of the path or of the actor. If the project belongs
 * to `likely`, no query for the organization is necessary.
 */
async function loadRoot(
  session: StorageSession,
  { ids, found, likely }: FoundRecords,
): Promise<Root> {
  const named = found.get('project') as Records['project'] | undefined
  const part = found.get(ids.flagId === undefined ? 'environment' : 'flag')
  const isByPart = ids.projectId === undefined && part !== undefined
  const project = isByPart ? await session.find('project', String(part['projectId'])) : named
  if (ids.orgId !== undefined || project === undefined) {
    return { organization: ids.orgId === undefined ? undefined : likely, project }
  }
  const isLikely = likely?.id === project.orgId
  const organization = isLikely ? likely : await session.find('organization', project.orgId)
  return { organization, project }
}

/**
 * Checks the access to a path and returns its organization; `null` for the whole installation.
 * Throws `NOT_FOUND` or `FORBIDDEN`.
 */
function decideAccess(
  access: Access,
  ids: Ids,
  { organization, thing = 'organization' }: Root & { readonly thing: string | undefined },
): Records['organization'] | null {
  const isOwned = ['orgId', 'projectId', 'environmentId'].some((id) => id in ids)
  if (isOwned) return permitted(access, organization, thing)
  if (ids.planId !== undefined || ids.catalogue === true) assertRoleMay(access)
  else assertPermittedOnInstallation(access)
  return null
}

/** Returns the id of the actor's organization; no ids for the role `platform`. */
export function organizationOf({ role, orgId }: Actor): { readonly orgId: string } | NoIds {
  return role === 'platform' ? {} : { orgId: orgId ?? '' }
}
