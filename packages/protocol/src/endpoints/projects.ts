import { pageOf } from '../envelope.ts'
import {
  newProjectCodec,
  projectChangesCodec,
  projectCodec,
  projectViewCodec,
} from '../resources/project.ts'
import {
  changing,
  creating,
  deleting,
  type Endpoint,
  noQuery,
  organizationParams,
  projectParams,
  reading,
  searchQuery,
} from './endpoint.ts'
import { ORGANIZATION } from './organizations.ts'

const PROJECTS = `${ORGANIZATION}/projects` as const
export const PROJECT = '/projects/{projectId}'
const permission = 'projects.write'

export const projectEndpoints = {
  listProjects: {
    ...reading,
    path: PROJECTS,
    params: organizationParams,
    query: searchQuery,
    response: pageOf(projectCodec),
  },
  createProject: {
    ...creating,
    permission,
    path: PROJECTS,
    params: organizationParams,
    body: newProjectCodec,
    response: projectViewCodec,
  },
  getProject: {
    ...reading,
    path: PROJECT,
    params: projectParams,
    query: noQuery,
    response: projectViewCodec,
  },
  updateProject: {
    ...changing,
    permission,
    path: PROJECT,
    params: projectParams,
    body: projectChangesCodec,
    response: projectViewCodec,
  },
  deleteProject: { ...deleting, permission, path: PROJECT, params: projectParams },
} as const satisfies Record<string, Endpoint>
