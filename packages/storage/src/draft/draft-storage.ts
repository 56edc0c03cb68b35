import { FlagError, type FlagSetDefinition } from '@ff/core'
import { mergeChanges } from '@ff/core/changes'
import { fieldOf, isLiving, pageOf } from '../memory/memory-query.ts'
import type { DefinitionChange } from '../ports/publications.ts'
import { keyTaken, recordNotFound, staleRevision } from '../ports/record-errors.ts'
import { KIND_RULES, type Kind, type Records } from '../ports/records.ts'
import { assertFinite } from '../ports/storable.ts'
import type { Changes, ListQuery, Page, Storage, StorageSession } from '../ports/storage.ts'
import { toDelta } from './to-delta.ts'

/** The methods of a store that a draft reads. */
export type DraftBase = Pick<
  Storage,
  | 'find'
  | 'findDeleted'
  | 'list'
  | 'listVersions'
  | 'loadFlagSet'
  | 'loadContexts'
  | 'loadEvaluationCounts'
>

/** Changes that are kept in memory and never written to the store. */
export interface Draft {
  /**
   * A store with the data of the base and the changes of the draft. All its transactions belong to
   * the draft. Methods that write data other than records and publications throw `INTERNAL`.
   */
  readonly storage: Storage
  /** The ids of the environments to which changes were published, with the changes in order. */
  readonly published: ReadonlyMap<string, readonly DefinitionChange[]>
}

/**
 * Creates a draft over a store. Calls of the draft read the base and never write to it.
 *
 * @example
 * const draft = createDraft(storage)
 * await draft.storage.transaction(orgId, (tx) => tx.update('flag', id, { archivedAt }))
 */
export function createDraft(base: DraftBase): Draft {
  const session = new DraftSession(base)
  const storage: Storage = Object.assign(session, {
    migrate: async () => undefined,
    close: async () => undefined,
    claimLease: refused,
    findLeaseHolder: refused,
    releaseLease: refused,
    transaction: <T>(_lock: string, work: (tx: StorageSession) => Promise<T>) => work(session),
  })
  return { storage, published: session.published }
}

class DraftSession implements StorageSession {
  readonly published = new Map<string, DefinitionChange[]>()
  readonly listVersions: StorageSession['listVersions']
  readonly loadContexts: StorageSession['loadContexts']
  readonly loadEvaluationCounts: StorageSession['loadEvaluationCounts']
  readonly #base: DraftBase
  /** The changed records, also those that are deleted, by kind and id. */
  readonly #changed = new Map<Kind, Map<string, unknown>>()

  constructor(base: DraftBase) {
    this.#base = base
    this.listVersions = (...input) => base.listVersions(...input)
    this.loadContexts = (query) => base.loadContexts(query)
    this.loadEvaluationCounts = (query) => base.loadEvaluationCounts(query)
  }

  async find<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
    const changed = this.#changedOf(kind).get(id)
    if (changed === undefined) return this.#base.find(kind, id)
    return isLiving(changed) ? changed : undefined
  }

  hold<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
    return this.find(kind, id)
  }

  async findDeleted<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
    const changed = this.#changedOf(kind).get(id)
    if (changed === undefined) return this.#base.findDeleted(kind, id)
    return isLiving(changed) ? undefined : changed
  }

  async list<K extends Kind>(kind: K, query: ListQuery<K>): Promise<Page<Records[K]>> {
    const changed = this.#changedOf(kind)
    if (changed.size === 0) return this.#base.list(kind, query)
    const { page: _, limit: __, isCounted: ___, after: ____, ...all } = query
    const { data } = await this.#base.list(kind, all)
    const unchanged = data.filter(({ id }) => !changed.has(id))
    return pageOf(kind, [...unchanged, ...[...changed.values()].filter(isLiving)], query)
  }

  async insert<K extends Kind>(kind: K, record: Records[K]): Promise<void> {
    assertFinite(record)
    const { id } = record
    const known = (await this.find(kind, id)) ?? (await this.findDeleted(kind, id))
    if (known !== undefined) throw keyTaken()
    await this.#keep(kind, record)
  }

  async update<K extends Kind>(
    kind: K,
    id: string,
    changes: Changes<K>,
    expectedRevision?: number,
  ): Promise<Records[K]> {
    assertFinite(changes)
    const record = await this.find(kind, id)
    if (record === undefined) throw recordNotFound(kind, id)
    const isStale =
      expectedRevision !== undefined && fieldOf(record, 'revision') !== expectedRevision
    if (isStale) throw staleRevision(kind, id)
    const given = Object.entries(changes).filter(([, value]) => value !== undefined)
    return this.#keep(kind, { ...record, ...Object.fromEntries(given) })
  }

  async revive<K extends Kind>(kind: K, id: string): Promise<Records[K]> {
    const record = await this.findDeleted(kind, id)
    if (record === undefined) throw recordNotFound(kind, id)
    return this.#keep(kind, { ...record, deletedAt: null })
  }

  async publish(environmentId: string, changes: readonly DefinitionChange[]): Promise<number> {
    const newest = await this.#base.listVersions(environmentId, { page: 1, limit: 1 })
    const { version = 0 } = newest.data[0] ?? {}
    if (changes.length === 0) return version
    const earlier = this.published.get(environmentId) ?? []
    this.published.set(environmentId, [...earlier, ...changes])
    return version + 1
  }

  /** Returns the flag set with the changes of the draft, under the version of the base. */
  async loadFlagSet(environmentId: string, at?: number): Promise<FlagSetDefinition | undefined> {
    const present = await this.#base.loadFlagSet(environmentId, at)
    const changes = this.published.get(environmentId)
    if (at !== undefined || changes === undefined) return present
    const before = present ?? { version: 0, flags: [], segments: [] }
    return mergeChanges(before, toDelta(before, changes))
  }

  readonly findVersions = refused
  readonly loadChanges = refused
  readonly loadFlagHistory = refused
  readonly addEvaluationCounts = refused
  readonly dropEvaluationCounts = refused
  readonly markEvaluated = refused
  readonly addApiCalls = refused
  readonly loadApiCalls = refused
  readonly takeApiCalls = refused
  readonly recordContextSamples = refused
  readonly claimDeliveries = refused
  readonly purge = refused

  async #keep<K extends Kind>(kind: K, record: Records[K]): Promise<Records[K]> {
    if (isLiving(record)) await this.#refuseTakenKeys(kind, record)
    this.#changedOf(kind).set(record.id, record)
    return record
  }

  async #refuseTakenKeys<K extends Kind>(kind: K, record: Records[K]): Promise<void> {
    for (const fields of KIND_RULES[kind].unique) {
      const key = fields.map((field) => [field, fieldOf(record, field)])
      const where: Partial<Records[K]> = Object.fromEntries(key)
      const alike = await this.list(kind, { where })
      if (alike.data.some(({ id }) => id !== record.id)) throw keyTaken()
    }
  }

  #changedOf<K extends Kind>(kind: K): Map<string, Records[K]> {
    const known = this.#changed.get(kind) ?? new Map()
    this.#changed.set(kind, known)
    return known as Map<string, Records[K]>
  }
}

async function refused(): Promise<never> {
  throw new FlagError('INTERNAL', 'A draft consists of records and publications only.')
}
