import { FlagError, type FlagSetDefinition, isFlagError } from '@ff/core'
import {
  type Environment,
  flagConfigurationInputCodec,
  type PreviewChange,
  type Role,
  rolesWith,
} from '@ff/protocol/management'
import { createDraft, type Draft, type DraftBase, type Storage } from '@ff/storage'
import type { Actor } from '../access/actors.ts'
import { notFound } from '../access/permissions.ts'
import type { ChangeCall, ChangeServices } from '../changes/apply-change.ts'
import { flagConfigurationUseCases } from '../flags/configure-flag.ts'
import { flagUseCases } from '../flags/flags.ts'
import { promotionUseCases } from '../flags/promotions.ts'
import { segmentUseCases } from '../flags/segments.ts'
import { restoreUseCases } from '../history/restore-version.ts'
import { given } from '../requests/filters.ts'
import { withoutReadOnlyFields } from '../requests/read-only.ts'
import { invalid, withinField } from '../requests/validation.ts'
import { performOperation } from '../scheduling/scheduled-operations.ts'
import { replaceVariations } from './draft-variations.ts'

/** The page with the newest version. */
const NEWEST = { page: 1, limit: 1 }

/** The services that a draft needs. None of them writes. */
export type DraftServices = Pick<ChangeServices, 'clock' | 'logger'> & {
  readonly storage: Storage
}

interface DraftInput {
  readonly changes: readonly PreviewChange[]
  readonly environment: Environment
  /** The organization of the environment. */
  readonly orgId: string
  readonly actor: Actor
  /** The published flag set of the environment. */
  readonly published: FlagSetDefinition
}

/** A draft to which changes are applied by the use cases that publish them. */
interface Application extends Pick<DraftInput, 'environment'> {
  readonly services: ChangeServices
  readonly call: ChangeCall
}

/**
 * Returns a draft with changes, which are applied by the use cases that publish such changes. Throws
 * the errors of the use cases; `INVALID_REQUEST` names the change. The definitions are not yet
 * checked together.
 */
export async function applyToDraft(
  { storage, clock, logger }: DraftServices,
  { changes, environment, orgId, actor, published }: DraftInput,
): Promise<Draft> {
  const draft = createDraft(withPublished(storage, environment.id, published))
  const services: ChangeServices = {
    ...{ storage: draft.storage, clock, logger },
    changeFeed: { publish: async () => undefined, subscribe: async () => async () => undefined },
    publishCheck: { load: (_, environmentId) => acceptAll(storage, environmentId) },
    wakeWebhooks: () => undefined,
    instance: { serve: async () => undefined, writeUsage: async () => undefined },
  }
  // A comment is required when the draft is published.
  const call = { actor: editorOf(actor, orgId), mayOmitComment: true }
  for (const [index, change] of changes.entries()) {
    const application = { services, call, environment }
    const field = `changes.${index}`
    await withinField(field, () => apply(application, change)).catch(nameMissing(field))
  }
  return draft
}

/** Returns a function that rethrows an error, and adds the field of the change to `NOT_FOUND`. */
function nameMissing(field: string): (error: unknown) => never {
  return (error) => {
    if (!isFlagError(error) || error.code !== 'NOT_FOUND') throw error
    const issues = [{ path: field, message: error.message }]
    throw new FlagError('NOT_FOUND', `${field}: ${error.message}`, { details: { issues } })
  }
}

/**
 * Returns the actor with a role that may change flags. A role that may only read can preview changes,
 * because it can read everything that the preview contains.
 */
function editorOf(actor: Actor, orgId: string): Actor {
  if (actor.role === 'platform') return actor
  const role: Role = rolesWith('flags.write')[0] ?? 'editor'
  return { ...actor, role, orgId }
}

/** Returns the store, with the loaded flag set of an environment. Other flag sets are read once. */
function withPublished(storage: Storage, environmentId: string, published: FlagSetDefinition) {
  const loaded = new Map<string, ReturnType<Storage['loadFlagSet']>>()
  const present = published.version === 0 ? undefined : published
  loaded.set(environmentId, Promise.resolve(present))
  const loadFlagSet: Storage['loadFlagSet'] = (id, at) => {
    if (at !== undefined) return storage.loadFlagSet(id, at)
    const found = loaded.get(id) ?? storage.loadFlagSet(id)
    loaded.set(id, found)
    return found
  }
  const base: DraftBase = {
    find: (kind, id) => storage.find(kind, id),
    findDeleted: (kind, id) => storage.findDeleted(kind, id),
    list: (kind, query) => storage.list(kind, query),
    listVersions: (...input) => storage.listVersions(...input),
    loadContexts: (query) => storage.loadContexts(query),
    loadEvaluationCounts: (query) => storage.loadEvaluationCounts(query),
    loadFlagSet,
  }
  return base
}

/** Accepts each change, because only all changes of a draft together must be valid. */
async function acceptAll(storage: Pick<Storage, 'listVersions'>, environmentId: string) {
  const { version = 0 } = (await storage.listVersions(environmentId, NEWEST)).data[0] ?? {}
  // biome-ignore lint/correctness/useYield: the check is a generator, but has nothing to do.
  const checkChange = function* (): Generator<undefined, readonly string[]> {
    return []
  }
  return { version, affectsClients: () => true, checkChange }
}

type ChangeOf<K extends PreviewChange['kind']> = Extract<PreviewChange, { readonly kind: K }>

function apply(application: Application, change: PreviewChange): Promise<unknown> {
  switch (change.kind) {
    case 'flag_configuration':
      return configureFlag(application, change)
    case 'flag':
      return applyToFlag(application, change)
    case 'segment':
      return applyToSegment(application, change)
    case 'promotion':
      return promote(application, change)
    case 'restore':
      return restore(application, change)
    case 'scheduled_change':
      return performScheduled(application, change)
  }
}

async function configureFlag(
  { services, call, environment }: Application,
  { flagId, configuration }: ChangeOf<'flag_configuration'>,
): Promise<void> {
  const { projectId, id: environmentId } = environment
  const params = { projectId, environmentId, flagId }
  // A preview compares the draft with the current configuration, whatever it was made from.
  const present = await flagConfigurationUseCases.getFlagConfiguration(services, call, { params })
  const body = withoutReadOnlyFields(flagConfigurationInputCodec, configuration)
  const input = { params, body, expectedRevision: present.revision }
  await withinField('configuration', () =>
    flagConfigurationUseCases.updateFlagConfiguration(services, call, input),
  )
}

async function applyToFlag(
  { services, call, environment: { projectId } }: Application,
  { flagId, variations, archived }: ChangeOf<'flag'>,
): Promise<void> {
  const params = { projectId, flagId }
  if (variations === undefined && archived === undefined) {
    throw invalid('', 'must contain variations or archived')
  }
  if (variations !== undefined) await replaceVariations({ services, call, params }, variations)
  if (archived === undefined) return
  await flagUseCases.updateFlag(services, call, { params, body: { archived } })
}

async function applyToSegment(
  { services, call, environment: { projectId } }: Application,
  { segmentId, list = 'included', ...change }: ChangeOf<'segment'>,
): Promise<void> {
  const { rules, logicalOp, force, add, remove } = change
  const params = { projectId, segmentId }
  const body = given({ rules, logicalOp, force })
  const keys = given({ add, remove })
  if (Object.keys(body).length + Object.keys(keys).length === 0) {
    throw invalid('', 'must contain rules, logical_op, force, add or remove')
  }
  if (Object.keys(body).length > 0) {
    await segmentUseCases.updateSegment(services, call, { params, body })
  }
  if (Object.keys(keys).length > 0) {
    await segmentUseCases.changeSegmentKeys(services, call, { params, body: { list, ...keys } })
  }
}

function promote(
  { services, call, environment }: Application,
  { flagId, fromEnvironmentId }: ChangeOf<'promotion'>,
): Promise<unknown> {
  const params = { projectId: environment.projectId, flagId }
  const body = { fromEnvironmentId, toEnvironmentId: environment.id }
  return promotionUseCases.promoteFlag(services, call, { params, body })
}

function restore(
  { services, call, environment }: Application,
  { version }: ChangeOf<'restore'>,
): Promise<unknown> {
  const params = { projectId: environment.projectId, environmentId: environment.id, version }
  return restoreUseCases.restoreVersion(services, call, { params })
}

async function performScheduled(
  { services, call, environment }: Application,
  { changeId }: ChangeOf<'scheduled_change'>,
): Promise<void> {
  const change = await services.storage.find('scheduledChange', changeId)
  if (change?.environmentId !== environment.id) throw notFound('scheduled change')
  if (change.status !== 'pending') throw invalid('change_id', 'must be a pending change')
  await performOperation(services, call, { place: change, change })
}
