import { FlagError, isFlagError, type JsonValue, jsonEquals } from '@ff/core'
import {
  accessTokenCodec,
  environmentCodec,
  flagCodec,
  flagStateCodec,
  invoiceCodec,
  memberCodec,
  organizationCodec,
  planCodec,
  projectCodec,
  rolloutCodec,
  scheduledChangeCodec,
  sdkKeyCodec,
  segmentCodec,
  targetingRuleCodec,
  userCodec,
  variationCodec,
  webhookCodec,
} from '@ff/protocol/management'
import { newId } from '@ff/server/plane'
import type { Changes, Kind, Records, StorageSession } from '@ff/storage'
import type * as z from 'zod'
import { encodeWire } from '../requests/validation.ts'
import { countListedKeys, type ListedKeysChange } from './listed-keys.ts'
import type { Touch } from './publication.ts'

/** The kinds that use cases write; the audit log is written by `appendAudit` alone. */
export type WritableKind = Exclude<
  Kind,
  | 'auditEvent'
  | 'auditHead'
  | 'identity'
  | 'loginSession'
  | 'idempotencyRecord'
  | 'observedContext'
  | 'paymentEvent'
  | 'userSketch'
  | 'webhookDelivery'
>

/** What a session can answer without changing anything. */
export type Reader = Pick<StorageSession, 'find' | 'list' | 'loadFlagSet'>

/** A record before it is written: the writer adds id, times and revision. */
export type NewRecord<K extends WritableKind> = Omit<
  Records[K],
  'id' | 'createdAt' | 'updatedAt' | 'deletedAt' | 'revision'
>

/** Fields of a record; those left undefined stay as they are. */
export type RecordChanges<K extends WritableKind> = {
  readonly [F in keyof NewRecord<K>]?: NewRecord<K>[F] | undefined
}

const CODECS: Readonly<Record<WritableKind, z.ZodType>> = {
  organization: organizationCodec,
  plan: planCodec,
  invoice: invoiceCodec,
  project: projectCodec,
  environment: environmentCodec,
  flag: flagCodec,
  flagState: flagStateCodec,
  variation: variationCodec,
  targetingRule: targetingRuleCodec,
  segment: segmentCodec,
  rollout: rolloutCodec,
  scheduledChange: scheduledChangeCodec,
  sdkKey: sdkKeyCodec,
  accessToken: accessTokenCodec,
  user: userCodec,
  member: memberCodec,
  webhook: webhookCodec,
}

/**
 * Writes records inside a transaction: gives them id, times and revision, checks them against
 * their codec, and remembers which definitions they touch, so that `applyChange` can publish them.
 */
export class RecordWriter {
  /** For looking things up in the same transaction. */
  readonly reader: Reader
  /** The one instant at which everything in this transaction happens. */
  readonly now: string
  readonly #session: StorageSession
  readonly #touches: Touch[] = []
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

  /** What the written records are part of. */
  get touches(): readonly Touch[] {
    return this.#touches
  }

  /** How many more living records of a kind there are than before; negative when there are fewer. */
  balanceOf(kind: WritableKind): number {
    return this.#balance.get(kind) ?? 0
  }

  /** Adds a record; throws `CONFLICT` when its key is taken. */
  async insert<K extends WritableKind>(
    kind: K,
    fields: NewRecord<K>,
    id = newId(),
  ): Promise<Records[K]> {
    const { now } = this
    const frame = { createdAt: now, updatedAt: now, deletedAt: null, revision: 1 }
    const record = { id, ...fields, ...frame } as unknown as Records[K]
    toWire(kind, record)
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
   * Changes the given fields and answers the record as it now is; writes nothing when all of
   * them are already so. Throws `CONFLICT`, with the record, when it has another revision than
   * the expected one.
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
   * Changes who is listed in a segment, in every environment of its project, and answers it with
   * its new count; writes nothing when everybody is, or is not, listed already.
   */
  async updateListedKeys(
    segment: Records['segment'],
    change: ListedKeysChange,
  ): Promise<Records['segment']> {
    const counts = await countListedKeys(this.#session, segment, change)
    if (counts === undefined) return segment
    const { id: segmentId, projectId } = segment
    this.#touches.push({ projectId, segmentId, listedKeys: change })
    return this.#write('segment', segment, counts)
  }

  /** Marks a record as deleted. */
  async remove<K extends WritableKind>(kind: K, record: Records[K]): Promise<void> {
    await this.#write(kind, record, { deletedAt: this.now } as Changes<K>)
    this.#balance.set(kind, this.balanceOf(kind) - 1)
  }

  /** Removes observed contexts for ever, and answers how many they were. */
  async forgetContexts(where: Partial<Records['observedContext']>): Promise<number> {
    const forgotten = await this.#session.purge('observedContext', { where })
    if (forgotten > 0) this.#kinds.add('observedContext')
    return forgotten
  }

  /** Logs somebody out, everywhere. */
  async endSessions(userId: string): Promise<void> {
    await this.#session.purge('loginSession', { where: { userId } })
  }

  /** Whoever an identity provider vouched for is somebody new when they come again. */
  async unlinkIdentities(userId: string): Promise<void> {
    await this.#session.purge('identity', { where: { userId } })
  }

  /** Brings a deleted record back, with the fields that are answered for it. */
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

  /** Throws `CONFLICT`, with the record, unless it has the expected revision, if one is expected. */
  assertRevision<K extends WritableKind>(
    kind: K,
    record: Records[K],
    expectedRevision: number | undefined,
  ): void {
    if (expectedRevision === undefined || expectedRevision === record.revision) return
    const details = toWire(kind, record)
    const message = `The record has changed: it is at revision ${record.revision}.`
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
    const touch = TOUCHES[kind]
    // Nothing that an environment says of itself is part of a definition: only that it is there.
    const isOnlySaid = kind === 'environment' && changes !== undefined && !('deletedAt' in changes)
    if (touch !== undefined && !isOnlySaid) this.#touches.push(touch(record))
  }
}

/** Of which definitions a record of each kind is a part; of none, when it is not here. */
const TOUCHES: { readonly [K in WritableKind]?: (record: Records[K]) => Touch } = {
  environment: ({ id, projectId }) => ({ projectId, environmentId: id }),
  flag: ({ id, projectId }) => ({ projectId, flagId: id }),
  variation: ({ flagId, projectId }) => ({ projectId, flagId }),
  flagState: ({ flagId, environmentId, projectId }) => ({ projectId, environmentId, flagId }),
  targetingRule: ({ flagId, environmentId, projectId }) => ({ projectId, environmentId, flagId }),
  rollout: ({ flagId, environmentId, projectId }) => ({ projectId, environmentId, flagId }),
  segment: ({ id, projectId }) => ({ projectId, segmentId: id }),
}

/** Also checks: throws `INVALID_REQUEST` for a record that breaks the rules of its kind. */
function toWire(kind: WritableKind, record: unknown): Readonly<Record<string, unknown>> {
  return encodeWire(CODECS[kind], record) as Readonly<Record<string, unknown>>
}

function changedFields(record: object, fields: object): Record<string, unknown> {
  const before = new Map<string, unknown>(Object.entries(record))
  const changed = Object.entries(fields).filter(
    ([name, value]) =>
      value !== undefined && !jsonEquals(value as JsonValue, before.get(name) as JsonValue),
  )
  return Object.fromEntries(changed)
}

function keyTaken(record: object): FlagError {
  const key = 'key' in record ? String(record.key) : ''
  const issues = [{ path: 'key', message: 'is already taken' }]
  return new FlagError('CONFLICT', `The key "${key}" is already taken.`, { details: { issues } })
}
