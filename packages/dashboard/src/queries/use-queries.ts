import type { FlagSummary, PageOf } from '@ff/protocol/management'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import type { Api } from '../api/api.ts'
import type { QueryOf } from '../api/api-request.ts'
import { useApi, useSessionState } from '../session/use-session.ts'
import { queryKeys } from './query-keys.ts'

/** The id and the name of an organization. */
export interface OrganizationName {
  readonly id: string
  readonly name: string
}

const NO_ORGANIZATIONS: readonly OrganizationName[] = []

/**
 * Returns the organizations that the user can select: those of the memberships, or all of them for
 * the role `platform`. Empty until they are loaded.
 */
export function useOrganizations(): readonly OrganizationName[] {
  const { logIn } = useSessionState()
  const all = useAllOrganizations(logIn?.user.role === 'platform')
  const memberships = logIn?.memberships.map(({ orgId, name }) => ({ id: orgId, name }))
  return all.data ?? memberships ?? NO_ORGANIZATIONS
}

/** Loads the organizations of the installation; only for the role `platform`. */
export function useAllOrganizations(isEnabled: boolean) {
  const api = useApi()
  return useQuery({
    queryKey: queryKeys.organizations(),
    enabled: isEnabled,
    queryFn: async ({ signal }): Promise<readonly OrganizationName[]> => {
      const { data } = await api.call('listOrganizations', { query: { limit: 100 }, signal })
      return data.data.map(({ id, name }) => ({ id, name }))
    },
  })
}

/** Loads the projects of the selected organization. */
export function useProjects() {
  const api = useApi()
  const orgId = useSessionState().organizationId
  return useQuery({
    queryKey: queryKeys.projects(orgId),
    enabled: orgId !== null,
    queryFn: async ({ signal }) => {
      const input = { params: { orgId: orgId ?? '' }, query: { limit: 100 }, signal }
      return (await api.call('listProjects', input)).data.data
    },
  })
}

/** Returns the query for a project with its environments. */
export function projectQuery(api: Api, projectId: string) {
  return queryOptions({
    queryKey: queryKeys.projectRecord(projectId),
    enabled: projectId !== '',
    queryFn: async ({ signal }) => {
      return (await api.call('getProject', { params: { projectId }, signal })).data
    },
  })
}

/** Loads a project with its environments. */
export function useProject(projectId: string) {
  return useQuery(projectQuery(useApi(), projectId))
}

/** The flags of a project to load: the search, filters, order and page. */
export interface FlagSummaries {
  readonly projectId: string
  readonly query: QueryOf<'listFlagSummaries'>
}

/** Returns the query for one page of the flag summaries of a project. */
export function flagSummariesQuery(api: Api, { projectId, query }: FlagSummaries) {
  return queryOptions({
    queryKey: [...queryKeys.flagSummaries(projectId), query],
    queryFn: async ({ signal }): Promise<PageOf<FlagSummary>> => {
      return (await api.call('listFlagSummaries', { params: { projectId }, query, signal })).data
    },
  })
}

/** Loads one page of the flag summaries of a project. The previous page stays until it arrives. */
export function useFlagSummaries(projectId: string, query: QueryOf<'listFlagSummaries'>) {
  const options = flagSummariesQuery(useApi(), { projectId, query })
  return useQuery({ ...options, placeholderData: keepPreviousData })
}

/** Loads a flag with its variations; the result has its `ETag`. */
export function useFlag(projectId: string, flagId: string) {
  const api = useApi()
  return useQuery({
    queryKey: queryKeys.flag(projectId, flagId),
    queryFn: ({ signal }) => api.call('getFlag', { params: { projectId, flagId }, signal }),
  })
}

/** What names the configuration of a flag in an environment. */
export interface ConfigurationPlace {
  readonly projectId: string
  readonly environmentId: string
  readonly flagId: string
}

/** Loads the configuration of a flag in an environment; the result has its `ETag`. */
export function useConfiguration(place: ConfigurationPlace) {
  const api = useApi()
  return useQuery({
    queryKey: queryKeys.configuration(place.projectId, place.environmentId, place.flagId),
    enabled: place.environmentId !== '',
    queryFn: ({ signal }) => api.call('getFlagConfiguration', { params: place, signal }),
  })
}

/** Loads one page of the segments of a project. */
export function useSegments(projectId: string, page = 1) {
  const api = useApi()
  return useQuery({
    queryKey: [...queryKeys.segments(projectId), page],
    queryFn: async ({ signal }) => {
      const query = { page, limit: 100 }
      return (await api.call('listSegments', { params: { projectId }, query, signal })).data
    },
  })
}

/** Loads a segment; the result has its `ETag`. */
export function useSegment(projectId: string, segmentId: string) {
  const api = useApi()
  return useQuery({
    queryKey: queryKeys.segment(projectId, segmentId),
    queryFn: ({ signal }) => api.call('getSegment', { params: { projectId, segmentId }, signal }),
  })
}

/** What names one page of a list in an environment. */
export interface EnvironmentPage {
  readonly projectId: string
  readonly environmentId: string
  readonly page?: number
}

/** Loads one page of the versions of an environment, newest first. */
export function useVersions({ projectId, environmentId, page = 1 }: EnvironmentPage) {
  const api = useApi()
  return useQuery({
    queryKey: [...queryKeys.versions(projectId, environmentId), page],
    enabled: environmentId !== '',
    queryFn: async ({ signal }) => {
      const params = { projectId, environmentId }
      return (await api.call('listVersions', { params, query: { page }, signal })).data
    },
  })
}

/** Loads one page of the SDK keys of an environment. */
export function useSdkKeys({ projectId, environmentId, page = 1 }: EnvironmentPage) {
  const api = useApi()
  return useQuery({
    queryKey: [...queryKeys.sdkKeys(projectId, environmentId), page],
    enabled: environmentId !== '',
    queryFn: async ({ signal }) => {
      const params = { projectId, environmentId }
      return (await api.call('listSdkKeys', { params, query: { page }, signal })).data
    },
  })
}

/** Loads the methods with which users can log in. */
export function useLogInMethods() {
  const api = useApi()
  return useQuery({
    queryKey: queryKeys.logInMethods(),
    queryFn: async ({ signal }) => (await api.call('getLogInMethods', { signal })).data,
  })
}
