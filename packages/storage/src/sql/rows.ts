import { FlagError } from '@ff/core'
import type { LogEntry } from '../publication-log.ts'
import type { Kind, Records } from '../records.ts'
import type { PublishedVersion } from '../storage.ts'
import type { SqlDialect } from './dialect.ts'
import type { SqlRow, SqlValue } from './sql-driver.ts'
import { type ColumnType, TABLES } from './tables.ts'

/** Columns that are not spelled like their field. */
const COLUMN_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    actorId: 'actor_id',
    apiUsage: 'api_usage',
    archivedAt: 'archived_at',
    billingEmail: 'billing_email',
    bodyHash: 'body_hash',
    bucketBy: 'bucket_by',
    contextPrivacy: 'context_privacy',
    createdAt: 'created_at',
    createdBy: 'created_by',
    currentPeriodEnd: 'current_period_end',
    defaultVariationId: 'default_variation_id',
    deletedAt: 'deleted_at',
    environmentCount: 'environment_count',
    environmentId: 'environment_id',
    eventType: 'event_type',
    excludedCount: 'excluded_count',
    expiresAt: 'expires_at',
    flagCount: 'flag_count',
    flagId: 'flag_id',
    hasUsedPaidTrial: 'has_used_paid_trial',
    includedCount: 'included_count',
    intervalHours: 'interval_hours',
    isActive: 'is_active',
    isDefault: 'is_default',
    keyAttribute: 'key_attribute',
    lastEvaluatedAt: 'last_evaluated_at',
    lastUsedAt: 'last_used_at',
    logicalOp: 'logical_op',
    offVariationId: 'off_variation_id',
    orderIndex: 'order_index',
    orgId: 'org_id',
    planId: 'plan_id',
    previousHash: 'previous_hash',
    previousRanges: 'previous_ranges',
    projectCount: 'project_count',
    projectId: 'project_id',
    rateLimit: 'rate_limit',
    revokedAt: 'revoked_at',
    rolloutId: 'rollout_id',
    segmentId: 'segment_id',
    startAt: 'start_at',
    streamId: 'stream_id',
    targetPercentage: 'target_percentage',
    trialEndsAt: 'trial_ends_at',
    trialStartsAt: 'trial_starts_at',
    updatedAt: 'updated_at',
    userId: 'user_id',
    variationId: 'variation_id',
  }),
)

/** The column that keeps a field of this kind of record. */
export function columnOf(kind: Kind, field: string): string {
  typeOf(kind, field)
  return COLUMN_NAMES.get(field) ?? field
}

export interface FieldsToKeep<K extends Kind> {
  readonly kind: K
  /** Those that are `undefined` have no column. */
  readonly fields: Partial<Records[K]>
  readonly dialect: SqlDialect
}

/** What the columns of these fields hold. */
export function toRow<K extends Kind>({ kind, fields, dialect }: FieldsToKeep<K>): SqlRow {
  const row: Record<string, SqlValue> = {}
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined) continue
    const column = columnOf(kind, field)
    const isText = typeOf(kind, field) === 'json' && value !== null
    row[column] = isText ? JSON.stringify(value) : toColumn(value, dialect)
  }
  return row
}

/** The record in a row. Throws `INTERNAL`, naming the record, when it cannot be read any more. */
export function fromRow<K extends Kind>(kind: K, row: SqlRow): Records[K] {
  const record: Record<string, unknown> = {}
  try {
    for (const [field, type] of Object.entries<ColumnType>(TABLES[kind].columns)) {
      record[field] = fromColumn(type, row[columnOf(kind, field)] ?? null)
    }
  } catch (cause) {
    const message = `The ${kind} record ${String(row.id)} is damaged: restore a backup.`
    throw new FlagError('INTERNAL', message, { cause })
  }
  // The columns are declared field by field in `tables.ts`, which the compiler checks.
  return record as unknown as Records[K]
}

/** A row of the publication log, whose columns are named in `publication-statements.ts`. */
export function toLogEntry(row: SqlRow): LogEntry {
  return {
    kind: row.kind as LogEntry['kind'],
    id: String(row.entity_id),
    version: Number(row.version),
    baseVersion: Number(row.base_version),
    body: row.body === null || row.body === undefined ? null : String(row.body),
  }
}

/** A row of the versions, whose columns are named in `publication-statements.ts`. */
export function toPublishedVersion(row: SqlRow): PublishedVersion {
  return {
    version: Number(row.version),
    publishedAt: String(row.published_at),
    eventId: row.event_id === null || row.event_id === undefined ? null : String(row.event_id),
    flags: JSON.parse(String(row.flags)),
    segments: JSON.parse(String(row.segments)),
  }
}

function toColumn(value: unknown, dialect: SqlDialect): SqlValue {
  if (typeof value === 'boolean') return dialect.fromBoolean(value)
  if (value === null || typeof value === 'string' || typeof value === 'number') return value
  throw new FlagError('INTERNAL', 'A field that is no JSON cannot hold an array or an object.')
}

function fromColumn(type: ColumnType, value: SqlValue): unknown {
  if (value === null) return null
  switch (type) {
    case 'text':
      return value
    case 'integer':
    case 'real':
      return Number(value)
    case 'boolean':
      return Boolean(value)
    case 'json':
      return JSON.parse(String(value))
  }
}

function typeOf(kind: Kind, field: string): ColumnType {
  const columns: Readonly<Record<string, ColumnType>> = TABLES[kind].columns
  const type = Object.hasOwn(columns, field) ? columns[field] : undefined
  if (type === undefined) throw new FlagError('INTERNAL', `${kind} has no field ${field}.`)
  return type
}
