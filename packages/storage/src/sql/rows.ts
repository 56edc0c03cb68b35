import { FlagError } from '@ff/core'
import type { Kind, Records } from '../ports/records.ts'
import type { EvaluationTotal, PublishedVersion } from '../ports/storage.ts'
import type { LogEntry } from '../publication-log/publication-log.ts'
import type { SqlDialect } from './dialect.ts'
import type { SqlRow, SqlValue } from './sql-driver.ts'
import type { ColumnType } from './tables/table.ts'
import { TABLES } from './tables/tables.ts'

/** Columns that are not spelled like their field. */
const COLUMN_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    acceptedAt: 'accepted_at',
    actorId: 'actor_id',
    amountDue: 'amount_due',
    amountPaid: 'amount_paid',
    apiUsage: 'api_usage',
    appliedAt: 'applied_at',
    applyAt: 'apply_at',
    archivedAt: 'archived_at',
    billingEmail: 'billing_email',
    bodyHash: 'body_hash',
    bucketBy: 'bucket_by',
    clientVisible: 'client_visible',
    contextJson: 'context_json',
    contextPrivacy: 'context_privacy',
    createdAt: 'created_at',
    createdBy: 'created_by',
    currentPeriodEnd: 'current_period_end',
    customerId: 'customer_id',
    defaultVariationId: 'default_variation_id',
    deletedAt: 'deleted_at',
    dueDate: 'due_date',
    durationMs: 'duration_ms',
    environmentCount: 'environment_count',
    environmentId: 'environment_id',
    eventId: 'event_id',
    evaluationSuccess: 'evaluation_success',
    eventType: 'event_type',
    eventTypes: 'event_types',
    excludedCount: 'excluded_count',
    expiresAt: 'expires_at',
    failingSince: 'failing_since',
    firstSeen: 'first_seen',
    flagCount: 'flag_count',
    flagId: 'flag_id',
    graceBufferPct: 'grace_buffer_pct',
    hasUsedPaidTrial: 'has_used_paid_trial',
    hostedInvoiceUrl: 'hosted_invoice_url',
    includedCount: 'included_count',
    instanceId: 'instance_id',
    intervalHours: 'interval_hours',
    invoicePdf: 'invoice_pdf',
    isActive: 'is_active',
    isDefault: 'is_default',
    keyAttribute: 'key_attribute',
    lastError: 'last_error',
    lastEvaluatedAt: 'last_evaluated_at',
    lastStatus: 'last_status',
    lastSeen: 'last_seen',
    lastUsedAt: 'last_used_at',
    linkExpiresAt: 'link_expires_at',
    linkHash: 'link_hash',
    logicalOp: 'logical_op',
    maxApiCalls: 'max_api_calls',
    maxEnvironments: 'max_environments',
    maxFlags: 'max_flags',
    maxProjects: 'max_projects',
    mostPopular: 'most_popular',
    nextAttemptAt: 'next_attempt_at',
    occurredAt: 'occurred_at',
    offVariationId: 'off_variation_id',
    orderIndex: 'order_index',
    newFlagsClientVisible: 'new_flags_client_visible',
    orgId: 'org_id',
    overageBlockSize: 'overage_block_size',
    overageRateEurCents: 'overage_rate_eur_cents',
    paidAt: 'paid_at',
    paymentCustomerId: 'payment_customer_id',
    periodDay: 'period_day',
    periodEnd: 'period_end',
    periodStart: 'period_start',
    passwordHash: 'password_hash',
    planId: 'plan_id',
    previousHash: 'previous_hash',
    previousRanges: 'previous_ranges',
    productLink: 'product_link',
    projectCount: 'project_count',
    projectId: 'project_id',
    rateLimit: 'rate_limit',
    receivedAt: 'received_at',
    revokedAt: 'revoked_at',
    rolloutId: 'rollout_id',
    sealedSecret: 'sealed_secret',
    seenCount: 'seen_count',
    segmentId: 'segment_id',
    settledEventId: 'settled_event_id',
    startAt: 'start_at',
    streamId: 'stream_id',
    stripeAnnualPriceId: 'stripe_annual_price_id',
    stripeInvoiceId: 'stripe_invoice_id',
    stripeMonthlyPriceId: 'stripe_monthly_price_id',
    stripePriceId: 'stripe_price_id',
    stripeProductId: 'stripe_product_id',
    stripeSubscriptionId: 'stripe_subscription_id',
    targetId: 'target_id',
    targetPercentage: 'target_percentage',
    trialDays: 'trial_days',
    trialEndsAt: 'trial_ends_at',
    trialStartsAt: 'trial_starts_at',
    updatedAt: 'updated_at',
    userId: 'user_id',
    variationId: 'variation_id',
    variationResults: 'variation_results',
    webhookId: 'webhook_id',
  }),
)

const NO_VARIATION = ''

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
  // The tables declare a column for each field, which the compiler checks.
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

/** How `ff_evaluation_count` keeps a variation, or none: what is null would equal nothing. */
export function toVariationColumn(variationId: string | null): string {
  return variationId ?? NO_VARIATION
}

/** A row of totals, whose columns are named in `usage-statements.ts`. */
export function toEvaluationTotal(row: SqlRow): EvaluationTotal {
  return {
    variationId: row.variation_id === NO_VARIATION ? null : String(row.variation_id),
    reason: row.reason as EvaluationTotal['reason'],
    source: row.source as EvaluationTotal['source'],
    count: Number(row.count),
    micros: Number(row.micros),
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
