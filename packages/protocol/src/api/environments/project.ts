import * as z from 'zod'
import { changing, creating, cursorSearchQuery, deleting, reading } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { ORGANIZATION, PROJECT } from '../paths.ts'
import { changesOf, record } from '../record.ts'
import { clearable, description, id, key, name, newKey, recordFields } from '../scalars.ts'
import { environmentCodec } from './environment.ts'

/** A project, which contains environments, flags and segments. */
export type Project = z.output<typeof projectCodec>

/**
 * A project with its environments. The default environment is the first; the others are sorted by
 * `orderIndex`.
 */
export type ProjectView = z.output<typeof projectViewCodec>

const fields = {
  id,
  orgId: id,
  key,
  name,
  description,
  newFlagsClientVisible: z.boolean(),
  ...recordFields,
}
const viewFields = { ...fields, environments: z.array(environmentCodec) }

/** The codec of `Project`. */
export const projectCodec = record(fields)

/** The codec of `ProjectView`. */
export const projectViewCodec = record(viewFields)

/** The body of `createProject`. `name` defaults to the key. */
export type NewProject = z.output<typeof newProjectCodec>

/** The codec of `NewProject`. */
export const newProjectCodec = record({
  key: newKey,
  name: name.optional(),
  description: description.optional(),
  newFlagsClientVisible: z.boolean().optional(),
})

/** The body of `updateProject`; absent fields stay unchanged. */
export type ProjectChanges = z.output<typeof projectChangesCodec>

/** The codec of `ProjectChanges`. */
export const projectChangesCodec = changesOf(viewFields, {
  name: name.optional(),
  description: clearable(description, ''),
  newFlagsClientVisible: z.boolean().optional(),
})

const PROJECTS = `${ORGANIZATION}/projects` as const
const permission = 'projects.write'

/** The endpoints of projects. */
export const projectEndpoints = {
  listProjects: reading(PROJECTS, { query: cursorSearchQuery, response: pageOf(projectCodec) }),
  createProject: creating(PROJECTS, {
    permission,
    body: newProjectCodec,
    response: projectViewCodec,
  }),
  getProject: reading(PROJECT, { response: projectViewCodec }),
  updateProject: changing(PROJECT, {
    permission,
    body: projectChangesCodec,
    response: projectViewCodec,
  }),
  deleteProject: deleting(PROJECT, { permission }),
}
