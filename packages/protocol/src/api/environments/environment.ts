import * as z from 'zod'
import { changing, creating, deleting, reading, searchQuery } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { ENVIRONMENT, PROJECT } from '../paths.ts'
import { record } from '../record.ts'
import { clearable, id, key, name, recordFields } from '../scalars.ts'

/** One place where a project's flags are evaluated, such as `live` or `staging`. */
export type Environment = z.output<typeof environmentCodec>

/** How much of an observed context is kept: what rules read, everything, nothing. */
const contextPrivacy = z.enum(['minimal', 'all', 'none'])

/** The codec of `Environment`. */
export const environmentCodec = record({
  id,
  projectId: id,
  key,
  name,
  isDefault: z.boolean(),
  contextPrivacy,
  ...recordFields,
})

/** The name is the key unless given; the privacy `minimal`. */
export type NewEnvironment = z.output<typeof newEnvironmentCodec>

/** The codec of `NewEnvironment`. */
export const newEnvironmentCodec = record({
  key,
  name: name.optional(),
  contextPrivacy: contextPrivacy.optional(),
  /** The environment of the same project in whose likeness the flags are to behave. */
  copyFrom: id.nullable().optional(),
})

/** The body of `updateEnvironment`; absent fields stay as they are. */
export type EnvironmentChanges = z.output<typeof environmentChangesCodec>

/** The codec of `EnvironmentChanges`. */
export const environmentChangesCodec = record({
  name: name.optional(),
  /** `true` takes it from the environment that is the default one now. */
  isDefault: z.boolean().optional(),
  contextPrivacy: clearable(contextPrivacy, 'minimal'),
})

const ENVIRONMENTS = `${PROJECT}/envs` as const
const permission = 'projects.write'

/** The endpoints of environments. */
export const environmentEndpoints = {
  listEnvironments: reading(ENVIRONMENTS, {
    query: searchQuery,
    response: pageOf(environmentCodec),
  }),
  createEnvironment: creating(ENVIRONMENTS, {
    permission,
    body: newEnvironmentCodec,
    response: environmentCodec,
  }),
  getEnvironment: reading(ENVIRONMENT, { response: environmentCodec }),
  updateEnvironment: changing(ENVIRONMENT, {
    permission,
    body: environmentChangesCodec,
    response: environmentCodec,
  }),
  deleteEnvironment: deleting(ENVIRONMENT, { permission }),
}
