import { camelCaseRecord } from './record.ts'
import { id } from './scalars.ts'

export const ORGANIZATION = '/organizations/{orgId}'
export const PROJECT = '/projects/{projectId}'
export const ENVIRONMENT = `${PROJECT}/envs/{envId}` as const
export const FLAGS = `${PROJECT}/flags` as const
/** The state of one flag in one environment. */
export const FLAG_STATE = `${ENVIRONMENT}/flags/{flagId}` as const

/** The ids in these paths; a deeper path adds its own. */
export const inOrganization = { orgId: id } as const
export const inProject = { projectId: id } as const
export const inEnvironment = { ...inProject, environmentId: id } as const
export const ofFlag = { ...inProject, flagId: id } as const
export const ofFlagState = { ...inEnvironment, flagId: id } as const
/** Path parameters whose names differ from the names of the fields. */
export const pathNames = { environmentId: 'envId' } as const

export const noParams = camelCaseRecord({})
export const organizationParams = camelCaseRecord(inOrganization)
export const projectParams = camelCaseRecord(inProject)
export const environmentParams = camelCaseRecord(inEnvironment, pathNames)
export const flagParams = camelCaseRecord(ofFlag)
export const flagStateParams = camelCaseRecord(ofFlagState, pathNames)
