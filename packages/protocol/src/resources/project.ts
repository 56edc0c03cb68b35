import type * as z from 'zod'
import { record } from '../record.ts'
import { description, id, key, name, recordFields, recordNames } from '../scalars.ts'

/** Owns environments, flags and segments. */
export type Project = z.output<typeof projectCodec>

export const projectCodec = record(
  { id, orgId: id, key, name, description, ...recordFields },
  { orgId: 'org_id', ...recordNames },
)

/** The name is the key unless given. */
export type NewProject = z.output<typeof newProjectCodec>

export const newProjectCodec = record(
  { key, name: name.optional(), description: description.optional() },
  {},
)
