/** The keys of all queries. What belongs to a project begins with `project(projectId)`. */
export const queryKeys = {
  organizations: () => ['organizations'] as const,
  projects: (organizationId: string | null) => ['projects', organizationId] as const,
  /** The organization of a project that is not in the selected organization. */
  projectOrganization: (projectId: string) => ['projectOrganization', projectId] as const,
  logInMethods: () => ['logInMethods'] as const,
  project: (projectId: string) => ['project', projectId] as const,
  projectRecord: (projectId: string) => ['project', projectId, 'record'] as const,
  flagSummaries: (projectId: string) => ['project', projectId, 'flagSummaries'] as const,
  flags: (projectId: string) => ['project', projectId, 'flag'] as const,
  flag: (projectId: string, flagId: string) => ['project', projectId, 'flag', flagId] as const,
  segments: (projectId: string) => ['project', projectId, 'segments'] as const,
  segmentRecords: (projectId: string) => ['project', projectId, 'segment'] as const,
  segment: (projectId: string, segmentId: string) =>
    ['project', projectId, 'segment', segmentId] as const,
  configurations: (projectId: string) => ['project', projectId, 'configuration'] as const,
  configuration: (projectId: string, environmentId: string, flagId: string) =>
    ['project', projectId, 'configuration', environmentId, flagId] as const,
  versions: (projectId: string, environmentId: string) =>
    ['project', projectId, 'versions', environmentId] as const,
  convergence: (projectId: string, environmentId: string) =>
    ['project', projectId, 'convergence', environmentId] as const,
  sdkKeys: (projectId: string, environmentId: string) =>
    ['project', projectId, 'sdkKeys', environmentId] as const,
  /** Who has deleted a record of the project, or the project, while it was open. */
  deletion: (recordId: string) => ['deletion', recordId] as const,
  evaluation: (projectId: string, environmentId: string) =>
    ['project', projectId, 'evaluation', environmentId] as const,
} as const
