import { FlagError, isFlagError, type JsonValue, jsonEquals } from '@ff/core'
import * as wire from '@ff/protocol/management'
import { newId } from '@ff/server/plane'
import type { Changes, Kind, Records, StorageSession } from '@ff/storage'
import type * as z from 'zod'
import { encodeWire, invalid } from '../requests/validation.ts'
import { addPendingCalls } from './api-usage.ts'
import { countListedKeys, type ListedKeysChange } from './listed-keys.ts'
import type { AffectedEntity } from './publication.ts'
import { WrittenConfiguration } from './required-comments.ts'

/** The codec of each kind that use cases write. */
const CODECS = {
  organization: wire.organizationCodec,
  plan: wire.planCodec,
  invoice: wire.invoiceCodec,
  project: wire.projectCodec,
  environment: wire.environmentCodec,
  flag: wire.flagCodec,
  flagState: wire.flagStateCodec,
  variation: wire.variationCodec,
  targetingRule: wire.targetingRuleCodec,
  segment: wire.segmentCodec,
  rollout: wire.rolloutCodec,
  scheduledChange: wire.scheduledChangeCodec,
  sdkKey: wire.sdkKeyCodec,
  accessToken: wire.accessTokenCodec,
  user: wire.userCodec,
  member: wire.memberCodec,
  webhook: wire.webhookCodec,
} satisfies { readonly [K in Kind]?: z.ZodType }

/** The kinds of records that use cases write. Only `appendAudit` writes the audit log. */
export type WritableKind = keyof typeof CODECS

/** The reading methods of a session. */
export type Reader = Pick<
  StorageSession,
  'find' | 'list' | 'listVersions' | 'loadFlagSet' | 'loadApiCalls'
>

/** A record before it is inserted. The writer adds the id, the times and the revision. */
export type NewRecord<K extends WritableKind> = Omit<
  Records[K],
  'id' | 'createdAt' | 'updatedAt' | 'deletedAt' | 'revision'
>

/** The new values of fields of a record. A field that is `undefined` is not changed. */
export type RecordChanges<K extends WritableKind> = {
  readonly [F in keyof NewRecord<K>]?: NewRecord<K>[F] | undefined
}

/**
 * Writes records inside a transaction. The writer adds ids, times and revisions, checks the records
 * against their codecs, and collects the affected entities, which `applyChange` publishes.
 */
export class RecordWriter {
  /** The methods that read in the same transaction. */
  readonly reader: Reader
  /** The timestamp of every write of this transaction. */
  readonly now: string
  /** The configuration that was written. */
  readonly configuration = new WrittenConfiguration()
  readonly #session: StorageSession
  readonly #affected: AffectedEntity[] = []
  readonly #onlySummarized: AffectedEntity[] = []
  readonly #kinds = new Set<Kind>()
  readonly #balance = new Map<WritableKind, number>()

  constructor(session: StorageSession, now: string) {
    this.reader = session
    this.now = now
    this.#session = session
  }

  /** The kinds of the records that were written. */
  get kinds(): ReadonlySet<Kind> {
    return this.#kinds
  }

  /** The entities for which the definition depends on a written record. */
  get affected(): readonly AffectedEntity[] {
    return this.#affected
  }

  /** The entities for which a summary depends on a written record; includes `affected`. */
  get summarized(): readonly AffectedEntity[] {
    return [...this.#affected, ...this.#onlySummarized]
  }

  /** Returns the change in the number of records of a kind; negative if there are fewer. */
  balanceOf(kind: WritableKind): number {
    return this.#balance.get(kind) ?? 0
  }

  /**
   * Returns a living record that another lock protects, and that the change refers to; `undefined`
   * if there is none. No other transaction deletes the record before this one has ended.
   */
  hold<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
    return this.#session.hold(kind, id)
  }

  /**
   * Inserts a record and returns it. Throws `CONFLICT` if the key of the record is already taken.
   */
  async insert<K extends WritableKind>(
    kind: K,
    fields: NewRecord<K>,
    id = newId(),
  ): Promise<Records[K]> {
    const { now } = this
    const frame = { createdAt: now, updatedAt: now, deletedAt: null, revision: 1 }
    const record = { id, ...fields, ...frame } as unknown as Records[K]
    toWire(kind, record)
    if ('key' in record && wire.isId(String(record.key))) throw invalid('key', KEY_IS_ID)
    try {
      await this.#session.insert(kind, record)
    } catch (error) {
      throw isFlagError(error) && error.code === 'CONFLICT' ? keyTaken(record) : error
    }
    this.#balance.set(kind, this.balanceOf(kind) + 1)
    this.#remember(kind, record)
    return record
  }

  /**
   * Changes fields of a record and returns the changed record; writes nothing if no field differs.
   * Throws `CONFLICT`, with the record, if the revision of the record is not `expectedRevision`.
   */
  async update<K extends WritableKind>(
    kind: K,
    record: Records[K],
    fields: RecordChanges<K>,
    expectedRevision?: number,
  ): Promise<Records[K]> {
    this.assertRevision(kind, record, expectedRevision)
    const changed = changedFields(record, fields)
    if (Object.keys(changed).length === 0) return record
    toWire(kind, { ...record, ...changed })
    return this.#write(kind, record, changed as Changes<K>)
  }

  /**
   * Changes the listed keys of a segment, in every environment of its project, and returns the
   * segment with its new count; writes nothing if the change has no effect.
   */
  async updateListedKeys(
    segment: Records['segment'],
    change: ListedKeysChange,
  ): Promise<Records['segment']> {
    const counts = await countListedKeys(this.#session, segment, change)
    if (counts === undefined) return segment
    const { id: segmentId, projectId } = segment
    this.#affected.push({ projectId, segmentId, listedKeys: change })
    return this.#write('segment', segment, counts)
  }

  /** Marks a record as deleted. Throws `CONFLICT` as `update` does. */
  async remove<K extends WritableKind>(
    kind: K,
    record: Records[K],
    expectedRevision?: number,
  ): Promise<void> {
    this.assertRevision(kind, record, expectedRevision)
    await this.#write(kind, record, { deletedAt: this.now } as Changes<K>)
    this.#balance.set(kind, this.balanceOf(kind) - 1)
  }

  /**
   * Adds the pending API calls of an organization to `apiUsage` of its record, which is returned.
   * Required before the usage is read, reset or returned. This is not a change of configuration.
   */
  addPendingCalls(organization: Records['organization']): Promise<Records['organization']> {
    return addPendingCalls(this.#session, organization)
  }

  /** Deletes observed contexts permanently and returns their number. */
  async forgetContexts(where: Partial<Records['observedContext']>): Promise<number> {
    const forgotten = await this.#session.purge('observedContext', { where })
    if (forgotten > 0) this.#kinds.add('observedContext')
    return forgotten
  }

  /** Deletes all log-in sessions of a user. */
  async endSessions(userId: string): Promise<void> {
    await this.#session.purge('loginSession', { where: { userId } })
  }

  /** Deletes the links between a user and the identities of identity providers. */
  async unlinkIdentities(userId: string): Promise<void> {
    await this.#session.purge('identity', { where: { userId } })
  }

  /** Restores a deleted record, with the fields that `fieldsOf` returns for it. */
  async revive<K extends WritableKind>(
    kind: K,
    id: string,
    fieldsOf: (record: Records[K]) => RecordChanges<K>,
  ): Promise<Records[K]> {
    const record = await this.#session.revive(kind, id)
    const changed = changedFields(record, fieldsOf(record))
    toWire(kind, { ...record, ...changed })
    this.#balance.set(kind, this.balanceOf(kind) + 1)
    return this.#write(kind, record, changed as Changes<K>)
  }

  /**
   * Throws `CONFLICT`, with the record, if a revision is expected and the record has another one.
   */
  assertRevision<K extends WritableKind>(
    kind: K,
    record: Records[K],
    expectedRevision: number | undefined,
  ): void {
    if (expectedRevision === undefined || expectedRevision === record.revision) return
    const details = toWire(kind, record)
    const message = `The record has changed. Read it again: its revision is now ${record.revision}.`
    throw new FlagError('CONFLICT', message, { details })
  }

  async #write<K extends WritableKind>(
    kind: K,
    record: Records[K],
    changes: Changes<K>,
  ): Promise<Records[K]> {
    const revision = record.revision + 1
    const frame = { updatedAt: this.now, revision } as Changes<K>
    const all = { ...changes, ...frame }
    const written = await this.#session.update(kind, record.id, all, record.revision)
    this.#remember(kind, record, changes)
    return written
  }

  #remember<K extends WritableKind>(kind: K, record: Records[K], changes?: Changes<K>): void {
    this.#kinds.add(kind)
    this.configuration.add({ kind, record, changes })
    // Definitions depend on the existence of an environment, but not on its fields.
    const isOnlyDescription =
      kind === 'environment' && changes !== undefined && !('deletedAt' in changes)
    if (isOnlyDescription) return
    const affected = AFFECTED_ENTITIES[kind]?.(record)
    const summarized = SUMMARIZED_ENTITIES[kind]?.(record)
    if (affected !== undefined) this.#affected.push(affected)
    if (summarized !== undefined) this.#onlySummarized.push(summarized)
  }
}

/**
 * Functions that return the entity that a record is part of, by kind. Other kinds are not part of
 * an entity.
 */
const AFFECTED_ENTITIES: { readonly [K in WritableKind]?: (record: Records[K]) => AffectedEntity } =
  {
    environment: ({ id, projectId }) => ({ projectId, environmentId: id }),
    flag: ({ id, projectId }) => ({ projectId, flagId: id }),
    variation: ({ flagId, projectId }) => ({ projectId, flagId }),
    flagState: ({ flagId, environmentId, projectId }) => ({ projectId, environmentId, flagId }),
    targetingRule: ({ flagId, environmentId, projectId }) => ({ projectId, environmentId, flagId }),
    rollout: ({ flagId, environmentId, projectId }) => ({ projectId, environmentId, flagId }),
    segment: ({ id, projectId }) => ({ projectId, segmentId: id }),
  }

/** Functions that return the entity with the summary, but not the definition, that depends on a record. */
const SUMMARIZED_ENTITIES: typeof AFFECTED_ENTITIES = {
  scheduledChange: ({ flagId, environmentId, projectId }) => ({ projectId, environmentId, flagId }),
}

/**
 * Returns a record in the wire format. Throws `INVALID_REQUEST` if it is not valid for its kind.
 */
export function toWire(kind: WritableKind, record: unknown): Readonly<Record<string, unknown>> {
  const codec: z.ZodType = CODECS[kind]
  return encodeWire(codec, record) as Readonly<Record<string, unknown>>
}

/** Returns the `fields` that are not `undefined` and differ from those of the record. */
export function changedFields(record: object, fields: object): Record<string, unknown> {
  const before = new Map<string, unknown>(Object.entries(record))
  const changed = Object.entries(fields).filter(
    ([name, value]) =>
      value !== undefined && !jsonEquals(value as JsonValue, before.get(name) as JsonValue),
  )
  return Object.fromEntries(changed)
}

const KEY_IS_ID = 'must not have the form of a UUID, because ids have this form'

function keyTaken(record: object): FlagError {
  const key = 'key' in record ? String(record.key) : ''
  const issues = [{ path: 'key', message: 'is already taken' }]
  return new FlagError('CONFLICT', `The key "${key}" is already taken. Choose another key.`, {
    details: { issues },
  })
}
