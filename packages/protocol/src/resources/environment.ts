import * as z from 'zod'
import { record } from '../record.ts'
import { id, key, name, recordFields, recordNames } from '../scalars.ts'

/** One place where a project's flags are evaluated, such as `live` or `staging`. */
export type Environment = z.output<typeof environmentCodec>

/** How much of an observed context is kept: what rules read, everything, nothing. */
const contextPrivacy = z.enum(['minimal', 'all', 'none'])

const inputNames = { contextPrivacy: 'context_privacy' } as const

export const environmentCodec = record(
  { id, projectId: id, key, name, isDefault: z.boolean(), contextPrivacy, ...recordFields },
  { projectId: 'project_id', isDefault: 'is_default', ...inputNames, ...recordNames },
)

/** The name is the key unless given; the privacy `minimal`. */
export type NewEnvironment = z.output<typeof newEnvironmentCodec>

export const newEnvironmentCodec = record(
  { key, name: name.optional(), contextPrivacy: contextPrivacy.optional() },
  inputNames,
)
