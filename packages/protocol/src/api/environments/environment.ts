import * as z from 'zod'
import { changing, creating, deleting, reading, searchQuery } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { ENVIRONMENT, PROJECT } from '../paths.ts'
import { changesOf, record } from '../record.ts'
import {
  attributeReference,
  clearable,
  count,
  id,
  idOrKey,
  key,
  name,
  newKey,
  recordFields,
} from '../scalars.ts'

/** A place where the flags of a project are evaluated, such as `live` or `staging`. */
export type Environment = z.output<typeof environmentCodec>

/**
 * The part of an observed context that is stored: the attributes that rules read (`minimal`), all
 * attributes, or none.
 */
const contextPrivacy = z.enum(['minimal', 'all', 'none'])

/** The maximum position of an environment. */
export const MAX_ENVIRONMENT_INDEX = 1_000_000
const orderIndex = count.max(MAX_ENVIRONMENT_INDEX)

/** References to attributes that observed contexts keep although no rule reads them. */
const keptAttributes = z.array(attributeReference).max(50)

const fields = {
  id,
  projectId: id,
  key,
  name,
  isDefault: z.boolean(),
  /** A mark for users and pages. The API behaves the same with and without it. */
  isProduction: z.boolean(),
  /**
   * `true` if every change of the environment's configuration, except switching a flag off, must
   * have a comment (header `X-FF-Comment`).
   */
  commentRequired: z.boolean(),
  /** The position among the environments of the project; equal positions are ordered by id. */
  orderIndex,
  contextPrivacy,
  keptAttributes,
  ...recordFields,
}

/** The codec of `Environment`. */
export const environmentCodec = record(fields)

/**
 * The body of `createEnvironment`. Defaults: `name` is the key, `isProduction` and
 * `commentRequired` are `false`, `orderIndex` is the position after all existing environments,
 * `contextPrivacy` is `minimal`, `keptAttributes` is empty.
 */
export type NewEnvironment = z.output<typeof newEnvironmentCodec>

/** The codec of `NewEnvironment`. */
export const newEnvironmentCodec = record({
  key: newKey,
  name: name.optional(),
  isProduction: z.boolean().optional(),
  commentRequired: z.boolean().optional(),
  orderIndex: orderIndex.optional(),
  contextPrivacy: contextPrivacy.optional(),
  keptAttributes: keptAttributes.optional(),
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
  isProduction: clearable(z.boolean(), false),
  commentRequired: clearable(z.boolean(), false),
  orderIndex: orderIndex.optional(),
  contextPrivacy: clearable(contextPrivacy, 'minimal'),
  /** With `context_privacy: none`, no attributes are kept. */
  keptAttributes: clearable(keptAttributes, []),
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
