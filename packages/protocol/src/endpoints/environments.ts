import { pageOf } from '../envelope.ts'
import {
  environmentChangesCodec,
  environmentCodec,
  newEnvironmentCodec,
} from '../resources/environment.ts'
import {
  changing,
  creating,
  deleting,
  type Endpoint,
  environmentParams,
  noQuery,
  projectParams,
  reading,
  searchQuery,
} from './endpoint.ts'
import { PROJECT } from './projects.ts'

const ENVIRONMENTS = `${PROJECT}/envs` as const
export const ENVIRONMENT = `${ENVIRONMENTS}/{envId}` as const
const permission = 'projects.write'

export const environmentEndpoints = {
  listEnvironments: {
    ...reading,
    path: ENVIRONMENTS,
    params: projectParams,
    query: searchQuery,
    response: pageOf(environmentCodec),
  },
  createEnvironment: {
    ...creating,
    permission,
    path: ENVIRONMENTS,
    params: projectParams,
    body: newEnvironmentCodec,
    response: environmentCodec,
  },
  getEnvironment: {
    ...reading,
    path: ENVIRONMENT,
    params: environmentParams,
    query: noQuery,
    response: environmentCodec,
  },
  updateEnvironment: {
    ...changing,
    permission,
    path: ENVIRONMENT,
    params: environmentParams,
    body: environmentChangesCodec,
    response: environmentCodec,
  },
  deleteEnvironment: { ...deleting, permission, path: ENVIRONMENT, params: environmentParams },
} as const satisfies Record<string, Endpoint>
