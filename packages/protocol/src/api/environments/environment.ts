import * as z from 'zod'
import { changing, creating, deleting, reading, searchQuery } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { ENVIRONMENT, PROJECT } from '../paths.ts'
import { changesOf, record } from '../record.ts'
import { clearable, id, idOrKey, key, name, newKey, recordFields } from '../scalars.ts'

/** A place where the flags of a project are evaluated, such as `live` or `staging`. */
export type Environment = z.output<typeof environmentCodec>

/**
 * The part of an observed context that is stored: the attributes that rules read (`minimal`), all
 * attributes, or none.
 */
const contextPrivacy = z.enum(['minimal', 'all', 'none'])

const fields = {
  id,
  projectId: id,
  key,
  name,
  isDefault: z.boolean(),
  contextPrivacy,
  ...recordFields,
}

/** The codec of `Environment`. */
export const environmentCodec = record(fields)

/** The body of `createEnvironment`. Defaults: `name` is the key, `contextPrivacy` is `minimal`. */
export type NewEnvironment = z.output<typeof newEnvironmentCodec>

/** The codec of `NewEnvironment`. */
export const newEnvironmentCodec = record({
  key: newKey,
  name: name.optional(),
  contextPrivacy: contextPrivacy.optional(),
  /** The id or the key of an environment of the same project from which flag configuration is copied. */
  copyFrom: idOrKey.nullable().optional(),
})

/** The body of `updateEnvironment`; absent fields stay unchanged. */
export type EnvironmentChanges = z.output<typeof environmentChangesCodec>

/** The codec of `EnvironmentChanges`. */
export const environmentChangesCodec = changesOf(fields, {
  name: name.optional(),
  /** `true` makes this environment the default environment, instead of the current one. */
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
