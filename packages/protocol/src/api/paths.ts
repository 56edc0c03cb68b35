import { record } from './record.ts'
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

export const noParams = record({}, {})
export const organizationParams = record(inOrganization, {})
export const projectParams = record(inProject, {})
export const environmentParams = record(inEnvironment, pathNames)
export const flagParams = record(ofFlag, {})
export const flagStateParams = record(ofFlagState, pathNames)
