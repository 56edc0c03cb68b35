import type {
  Environment,
  Flag,
  FlagState,
  Organization,
  Project,
  TargetingRule,
  Variation,
} from '@ff/protocol/management'
import type { StorageSession } from '@ff/storage'
import {
  type Access,
  assertPermittedOnInstallation,
  notFound,
  permitted,
} from '../access/permissions.ts'

/**
 * Loads what the ids of a path name, from the top down, and decides access on the organization
 * found there. Each thing must belong to the one before it, else it is `NOT_FOUND`.
 */
export type LoadPath<Params, Path extends AnyPath> = (
  session: StorageSession,
  access: Access,
  params: Params,
) => Promise<Path>

/** `organization` is null only for what belongs to the installation. */
export interface AnyPath {
  readonly organization: Organization | null
  readonly project?: Project
}

export interface OrganizationPath {
  readonly organization: Organization
}

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

interface ProjectParams {
  readonly projectId: string
}
interface EnvironmentParams extends ProjectParams {
  readonly environmentId: string
}
interface FlagParams extends ProjectParams {
  readonly flagId: string
}

/** What belongs to no organization. */
export const loadInstallation: LoadPath<unknown, AnyPath> = async (_session, access) => {
  assertPermittedOnInstallation(access)
  return { organization: null }
}

export const loadOrganizationPath: LoadPath<{ readonly orgId: string }, OrganizationPath> = async (
  session,
  access,
  { orgId },
) => {
  const organization = await session.find('organization', orgId)
  return { organization: permitted(access, organization, 'organization') }
}

export const loadProjectPath: LoadPath<ProjectParams, ProjectPath> = async (
  session,
  access,
  { projectId },
) => {
  const project = await session.find('project', projectId)
  if (project === undefined) throw notFound('project')
  const organization = await session.find('organization', project.orgId)
  return { organization: permitted(access, organization, 'project'), project }
}

export const loadEnvironmentPath: LoadPath<EnvironmentParams, EnvironmentPath> = async (
  session,
  access,
  params,
) => {
  const path = await loadProjectPath(session, access, params)
  const environment = await session.find('environment', params.environmentId)
  if (environment?.projectId !== path.project.id) throw notFound('environment')
  return { ...path, environment }
}

export const loadFlagPath: LoadPath<FlagParams, FlagPath> = async (session, access, params) => {
  const path = await loadProjectPath(session, access, params)
  const flag = await session.find('flag', params.flagId)
  if (flag?.projectId !== path.project.id) throw notFound('flag')
  return { ...path, flag }
}

export const loadVariationPath: LoadPath<
  FlagParams & { readonly variationId: string },
  VariationPath
> = async (session, access, params) => {
  const path = await loadFlagPath(session, access, params)
  const variation = await session.find('variation', params.variationId)
  if (variation?.flagId !== path.flag.id) throw notFound('variation')
  return { ...path, variation }
}

export const loadFlagStatePath: LoadPath<FlagParams & EnvironmentParams, FlagStatePath> = async (
  session,
  access,
  params,
) => {
  const path = await loadEnvironmentPath(session, access, params)
  const { flag } = await loadFlagPath(session, access, params)
  const where = { flagId: flag.id, environmentId: path.environment.id }
  const state = (await session.list('flagState', { where, limit: 1 })).data[0]
  if (state === undefined) throw notFound('flag')
  return { ...path, flag, state }
}

export const loadTargetingRulePath: LoadPath<
  FlagParams & EnvironmentParams & { readonly ruleId: string },
  TargetingRulePath
> = async (session, access, params) => {
  const path = await loadFlagStatePath(session, access, params)
  const rule = await session.find('targetingRule', params.ruleId)
  const isInPath = rule?.flagId === path.flag.id && rule.environmentId === path.environment.id
  if (!isInPath) throw notFound('targeting rule')
  return { ...path, rule }
}
