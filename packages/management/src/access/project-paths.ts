import type {
  Environment,
  Flag,
  FlagState,
  Project,
  ScheduledChange,
  Segment,
  TargetingRule,
  Variation,
} from '@ff/protocol/management'
import type { Records, StorageSession } from '@ff/storage'
import type { LoadPath } from './access-request.ts'
import type { OrganizationPath } from './organization-paths.ts'
import { type Access, notFound, permitted } from './permissions.ts'

export interface ProjectPath extends OrganizationPath {
  readonly project: Project
}

export interface EnvironmentPath extends ProjectPath {
  readonly environment: Environment
}

export interface FlagPath extends ProjectPath {
  readonly flag: Flag
}

export interface VariationPath extends FlagPath {
  readonly variation: Variation
}

export interface FlagStatePath extends FlagPath, EnvironmentPath {
  readonly state: FlagState
}

export interface TargetingRulePath extends FlagStatePath {
  readonly rule: TargetingRule
}

export interface RolloutPath extends FlagStatePath {
  readonly rollout: Records['rollout']
}

export interface SegmentPath extends ProjectPath {
  readonly segment: Segment
}

export interface SdkKeyPath extends EnvironmentPath {
  readonly sdkKey: Records['sdkKey']
}

export interface ScheduledChangePath extends FlagStatePath {
  readonly change: ScheduledChange
}

interface ProjectParams {
  readonly projectId: string
}
interface EnvironmentParams extends ProjectParams {
  readonly environmentId: string
}
interface FlagParams extends ProjectParams {
  readonly flagId: string
}

export const loadProjectPath: LoadPath<ProjectParams, ProjectPath> = async (
  session,
  access,
  { projectId },
) => {
  const [project, own] = await Promise.all([
    session.find('project', projectId),
    findOwnOrganization(session, access),
  ])
  if (project === undefined) throw notFound('project')
  const organization = await organizationOf(session, project, own)
  return { organization: permitted(access, organization, 'project'), project }
}

/** Returns the actor's own organization, which most often is that of the project. */
async function findOwnOrganization(
  session: StorageSession,
  { actor }: Access,
): Promise<Records['organization'] | undefined> {
  return actor.orgId === null ? undefined : session.find('organization', actor.orgId)
}

async function organizationOf(
  session: StorageSession,
  { orgId }: Project,
  likely: Records['organization'] | undefined,
): Promise<Records['organization'] | undefined> {
  return likely?.id === orgId ? likely : session.find('organization', orgId)
}

export const loadEnvironmentPath: LoadPath<EnvironmentParams, EnvironmentPath> = async (
  session,
  access,
  params,
) => {
  const [path, environment] = await Promise.all([
    loadProjectPath(session, access, params),
    session.find('environment', params.environmentId),
  ])
  if (environment?.projectId !== path.project.id) throw notFound('environment')
  return { ...path, environment }
}

/** The same for an environment that is named by its id alone. */
export const loadEnvironmentById: LoadPath<
  { readonly environmentId: string },
  EnvironmentPath
> = async (session, access, { environmentId }) => {
  const environment = await session.find('environment', environmentId)
  const project = environment && (await session.find('project', environment.projectId))
  if (environment === undefined || project === undefined) throw notFound('environment')
  const organization = await session.find('organization', project.orgId)
  return { organization: permitted(access, organization, 'environment'), project, environment }
}

export const loadSdkKeyPath: LoadPath<
  EnvironmentParams & { readonly keyId: string },
  SdkKeyPath
> = async (session, access, params) => {
  const path = await loadEnvironmentPath(session, access, params)
  const sdkKey = await session.find('sdkKey', params.keyId)
  if (sdkKey?.environmentId !== path.environment.id) throw notFound('SDK key')
  return { ...path, sdkKey }
}

export const loadFlagPath: LoadPath<FlagParams, FlagPath> = async (session, access, params) => {
  const [path, flag] = await Promise.all([
    loadProjectPath(session, access, params),
    session.find('flag', params.flagId),
  ])
  if (flag?.projectId !== path.project.id) throw notFound('flag')
  return { ...path, flag }
}

export const loadVariationPath: LoadPath<
  FlagParams & { readonly variationId: string },
  VariationPath
> = async (session, access, params) => {
  const [path, variation] = await Promise.all([
    loadFlagPath(session, access, params),
    session.find('variation', params.variationId),
  ])
  if (variation?.flagId !== path.flag.id) throw notFound('variation')
  return { ...path, variation }
}

export const loadFlagStatePath: LoadPath<FlagParams & EnvironmentParams, FlagStatePath> = async (
  session,
  access,
  params,
) => {
  const { flagId, environmentId } = params
  const [path, flag, states] = await Promise.all([
    loadEnvironmentPath(session, access, params),
    session.find('flag', flagId),
    session.list('flagState', { where: { flagId, environmentId } }),
  ])
  const state = states.data[0]
  if (flag?.projectId !== path.project.id || state === undefined) throw notFound('flag')
  return { ...path, flag, state }
}

export const loadTargetingRulePath: LoadPath<
  FlagParams & EnvironmentParams & { readonly ruleId: string },
  TargetingRulePath
> = async (session, access, params) => {
  const [path, rule] = await Promise.all([
    loadFlagStatePath(session, access, params),
    session.find('targetingRule', params.ruleId),
  ])
  const isInPath = rule?.flagId === path.flag.id && rule.environmentId === path.environment.id
  if (!isInPath) throw notFound('targeting rule')
  return { ...path, rule }
}

export const loadRolloutPath: LoadPath<
  FlagParams & EnvironmentParams & { readonly rolloutId: string },
  RolloutPath
> = async (session, access, params) => {
  const [path, rollout] = await Promise.all([
    loadFlagStatePath(session, access, params),
    session.find('rollout', params.rolloutId),
  ])
  const isInPath = rollout?.flagId === path.flag.id && rollout.environmentId === path.environment.id
  if (!isInPath) throw notFound('rollout')
  return { ...path, rollout }
}

export const loadScheduledChangePath: LoadPath<
  FlagParams & EnvironmentParams & { readonly changeId: string },
  ScheduledChangePath
> = async (session, access, params) => {
  const [path, change] = await Promise.all([
    loadFlagStatePath(session, access, params),
    session.find('scheduledChange', params.changeId),
  ])
  const isInPath = change?.flagId === path.flag.id && change.environmentId === path.environment.id
  if (!isInPath) throw notFound('scheduled change')
  return { ...path, change }
}

export const loadSegmentPath: LoadPath<
  ProjectParams & { readonly segmentId: string },
  SegmentPath
> = async (session, access, params) => {
  const [path, segment] = await Promise.all([
    loadProjectPath(session, access, params),
    session.find('segment', params.segmentId),
  ])
  if (segment?.projectId !== path.project.id) throw notFound('segment')
  return { ...path, segment }
}
