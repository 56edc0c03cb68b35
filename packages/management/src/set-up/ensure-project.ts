import { FlagError, isFlagError } from '@ff/core'
import type { FlagType } from '@ff/core/flag-types'
import {
  endpoints,
  type Flag,
  type NewFlag,
  type NewVariation,
  newFlagCodec,
  newProjectCodec,
  newVariationCodec,
  type ProjectView,
} from '@ff/protocol/management'
import * as z from 'zod'
import type { Actor } from '../access/actors.ts'
import type { ManagementUseCases } from '../api/use-cases.ts'
import { applyChange, type ChangeServices } from '../changes/apply-change.ts'
import { completed } from '../changes/change-event.ts'
import { insertOrganization } from '../organizations/organizations.ts'
import { decodeWire, encodeWire, invalid } from '../requests/validation.ts'

/** A project that a program needs, with its flags. */
export interface NeededProject {
  readonly key: string
  /** The name of a new project; by default its key. */
  readonly name?: string | undefined
  /**
   * The id of the organization. By default, the organization of the actor, else the organization
   * that has the project, else the only organization, else a new one.
   */
  readonly orgId?: string | undefined
  /**
   * The comment of the changes in the audit log; by default, a sentence that names the program as
   * their origin. Environments can require a comment.
   */
  readonly comment?: string | undefined
  /** The flags of the program, created by `defineFlags` of `@ff/core/flag-types`. */
  readonly flags?: { readonly types: FlagTypes } | undefined
}

type FlagTypes = Readonly<Record<string, FlagType<unknown>>>

/** The set-up of the configuration that a program needs. */
export interface ProjectSetUp {
  /**
   * Ensures that a project and its flags exist, and returns the project with its environments. A
   * new project has the environments `live` and `staging`. A new flag serves its fallback in every
   * environment. An existing flag keeps its configuration, and receives the variations that it
   * lacks if its values are known (`bool`, `oneOf`). Throws `CONFLICT`, and changes nothing, if an
   * existing flag has another type. Can be called at each start, by several processes at once.
   *
   * @example
   * await flags.as(SYSTEM).ensureProject({
   *   key: 'shop',
   *   flags: defineFlags({ 'new-checkout': bool(false) }),
   * })
   */
  ensureProject(needed: NeededProject): Promise<ProjectView>
}

interface EnsureTools {
  readonly actor: Actor
  readonly useCases: ManagementUseCases
  readonly services: ChangeServices
}

const PAGE_LIMIT = 100
/** The name of the organization that is created if there is none. */
const FIRST_ORGANIZATION = 'Default'
/** The default of `NeededProject.comment`. */
const ORIGIN = 'Defined by a program that uses the flags.'
/** The number of attempts if another process creates the same records at the same time. */
const MOST_ATTEMPTS = 5

/** Implements `ProjectSetUp.ensureProject`. */
export async function ensureProject(
  tools: EnsureTools,
  needed: NeededProject,
): Promise<ProjectView> {
  const { comment = ORIGIN } = needed
  const types = needed.flags?.types ?? {}
  const newFlags = Object.entries(types).map(toNewFlag)
  for (let attempt = 1; ; attempt += 1) {
    const created = await createIfAbsent(() => findOrCreate(tools, needed))
    if (
      created !== undefined &&
      (await ensureFlags(tools, { project: created, types, newFlags, comment }))
    ) {
      return tools.useCases.getProject({ params: { projectId: created.id } })
    }
    if (attempt === MOST_ATTEMPTS)
      throw new FlagError('CONFLICT', 'Other processes change the project.')
  }
}

async function findOrCreate(tools: EnsureTools, needed: NeededProject): Promise<ProjectView> {
  return (await findProject(tools, needed)) ?? create(tools, needed)
}

interface NeededFlags {
  readonly project: ProjectView
  readonly types: FlagTypes
  readonly newFlags: readonly NewFlag[]
  readonly comment: string
}

/** Returns `false` if another process has created one of the flags or variations meanwhile. */
async function ensureFlags(
  { useCases }: EnsureTools,
  { project: { id: projectId }, types, newFlags, comment }: NeededFlags,
): Promise<boolean> {
  const existing = await loadFlags(useCases, projectId)
  for (const flag of newFlags) assertSameType(existing.get(flag.key), flag)
  let isComplete = true
  for (const flag of newFlags) {
    const found = existing.get(flag.key)
    if (found !== undefined && types[flag.key]?.values === undefined) continue
    const ensured = await createIfAbsent(async () => {
      const params = { projectId }
      if (found === undefined) await useCases.createFlag({ params, body: flag, comment })
      else await addVariations(useCases, found, { flag, comment })
      return true
    })
    isComplete &&= ensured === true
  }
  return isComplete
}

/** Calls `create`. Returns `undefined` if another process has created the record meanwhile. */
async function createIfAbsent<T>(create: () => Promise<T>): Promise<T | undefined> {
  try {
    return await create()
  } catch (error) {
    if (isFlagError(error) && error.code === 'CONFLICT') return undefined
    throw error
  }
}

async function findProject(
  { actor, services, useCases }: EnsureTools,
  { key, orgId = actor.orgId ?? undefined }: NeededProject,
): Promise<ProjectView | undefined> {
  const where = { key, ...(orgId !== undefined && { orgId }) }
  const { data } = await services.storage.list('project', { where })
  const [project, other] = data
  if (other !== undefined) {
    throw invalid('orgId', `is required: several organizations have a project "${key}"`)
  }
  // The use case checks the permission of the actor.
  return project && useCases.getProject({ params: { projectId: project.id } })
}

async function create(tools: EnsureTools, needed: NeededProject): Promise<ProjectView> {
  const { key, name, comment = ORIGIN } = needed
  const body = decodeWire(newProjectCodec, { key, name })
  const orgId = needed.orgId ?? tools.actor.orgId ?? (await onlyOrganization(tools))
  return tools.useCases.createProject({ params: { orgId }, body, comment })
}

/** Returns the id of the only organization, and creates it if there is none. */
async function onlyOrganization({ actor, services, useCases }: EnsureTools): Promise<string> {
  const { data } = await useCases.listOrganizations({ query: { limit: 2 } })
  const [organization, other] = data
  if (other !== undefined) throw invalid('orgId', 'is required: there are several organizations')
  if (organization !== undefined) return organization.id
  const { permission } = endpoints.createOrganization
  const created = await applyChange(services, { actor, permission, ids: {} }, async (writer) => {
    // Another process can have created an organization before this transaction.
    const { data: present } = await writer.reader.list('organization', { limit: 1 })
    if (present[0] !== undefined) return { result: present[0] }
    const after = await insertOrganization(writer, { name: FIRST_ORGANIZATION })
    return completed('organization.created', { after })
  })
  return created.id
}

async function loadFlags(
  useCases: ManagementUseCases,
  projectId: string,
): Promise<ReadonlyMap<string, Flag>> {
  const flags = new Map<string, Flag>()
  for (let after: string | undefined, isOver = false; !isOver; isOver = after === undefined) {
    const query = { limit: PAGE_LIMIT, ...(after !== undefined && { after }) }
    const { data, next } = await useCases.listFlags({ params: { projectId }, query })
    for (const flag of data) flags.set(flag.key, flag)
    after = next
  }
  return flags
}

function assertSameType(found: Flag | undefined, { key, type }: NewFlag): void {
  if (found === undefined || found.type === type) return
  const message = `The flag "${key}" has the type ${found.type}, but the program defines it as ${type}.`
  throw new FlagError('CONFLICT', message)
}

/** Adds the variations with values that the flag does not have yet. */
async function addVariations(
  useCases: ManagementUseCases,
  { id: flagId, projectId }: Flag,
  { flag, comment }: { readonly flag: NewFlag; readonly comment: string },
): Promise<void> {
  const params = { projectId, flagId }
  const { variations: present } = await useCases.getFlag({ params })
  const values = new Set(present.map(({ value }) => value))
  const keys = new Set(present.map(({ key }) => key))
  for (const { key, value } of flag.variations ?? []) {
    if (values.has(value)) continue
    const body = { key: freeKey(key, keys), value }
    await useCases.createVariation({ params, body, comment })
  }
}

function toNewFlag([key, flagType]: [string, FlagType<unknown>]): NewFlag {
  const { type, fallback, values = [fallback] } = flagType
  const variations: NewVariation[] = []
  const keys = new Set<string>()
  for (const value of values) {
    const wanted = type === 'json' ? 'default' : String(value)
    const variation = { key: freeKey(wanted, keys), value: textOf(flagType, value) }
    variations.push({ ...variation, isDefault: value === fallback })
  }
  const flag: NewFlag = { key, type, variations }
  encodeWire(newFlagCodec, flag)
  return flag
}

/** Returns a valid key that is not in use, and adds it: the wanted key if possible. */
function freeKey(wanted: string, keys: Set<string>): string {
  let key = wanted
  for (let n = 1; keys.has(key) || !isKey(key); n += 1) key = `value-${n}`
  keys.add(key)
  return key
}

function isKey(key: string): boolean {
  return z.safeEncode(newVariationCodec, { key, value: '' }).success
}

/** Returns a value in the format of a variation. */
function textOf({ type }: FlagType<unknown>, value: unknown): string {
  return type === 'string' ? String(value) : (JSON.stringify(value) ?? '')
}
