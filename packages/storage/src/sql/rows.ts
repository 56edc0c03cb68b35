import { FlagError } from '@ff/core'
import type { PublishedVersion } from '../ports/publications.ts'
import type { Kind, Records } from '../ports/records.ts'
import type { ObservedAttributes } from '../ports/storage.ts'
import type { EvaluationTotal } from '../ports/usage.ts'
import type { LogEntry } from '../publication-log/publication-log.ts'
import { type ColumnType, columnOf, columnTypeOf, fieldOf } from './columns.ts'
import type { SqlDialect } from './dialect.ts'
import type { SqlRow, SqlValue } from './sql-driver.ts'

const NO_VARIATION = ''

/** The fields of a record that are converted to a row. */
export interface FieldsToKeep<K extends Kind> {
  readonly kind: K
  /** The fields. Those that are `undefined` are omitted from the row. */
  readonly fields: Partial<Records[K]>
  readonly dialect: SqlDialect
}

/**
 * Returns the column values of these fields. Throws `INTERNAL` for an array or an object in a field
 * that is not stored as JSON.
 */
export function toRow<K extends Kind>({ kind, fields, dialect }: FieldsToKeep<K>): SqlRow {
  const row: Record<string, SqlValue> = {}
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined) continue
    const isText = columnTypeOf(kind, field) === 'json' && value !== null
    row[columnOf(field)] = isText ? JSON.stringify(value) : toColumn(value, dialect)
  }
  return row
}

/**
 * Returns a function that converts rows with the same columns as `first` to records. The function
 * throws `INTERNAL`, with the id of the record, if the record is damaged.
 */
export function rowReader<K extends Kind>(kind: K, first: SqlRow): (row: SqlRow) => Records[K] {
  const columns = Object.keys(first).map((column) => {
    const field = fieldOf(column)
    return { column, field, type: columnTypeOf(kind, field) }
  })
  return (row) => {
    const record: Record<string, unknown> = {}
    try {
      for (const { column, field, type } of columns) {
        record[field] = fromColumn(row[column] ?? null, type)
      }
    } catch (cause) {
      const message = `The ${kind} record ${String(row.id)} is damaged: restore a backup.`
      throw new FlagError('INTERNAL', message, { cause })
    }
    // The cast is safe: a test compares the columns of each table with the fields of its records.
    return record as unknown as Records[K]
  }
}

/** Converts a row to a record. Throws `INTERNAL` if the record is damaged. */
export function fromRow<K extends Kind>(kind: K, row: SqlRow): Records[K] {
  return rowReader(kind, row)(row)
}

/** Converts a row of the publication log, selected in `publication-statements.ts`. */
export function toLogEntry(row: SqlRow): LogEntry {
  return {
    kind: row.kind as LogEntry['kind'],
    id: String(row.entity_id),
    version: Number(row.version),
    baseVersion: Number(row.base_version),
    body: row.body === null || row.body === undefined ? null : String(row.body),
  }
}

/** Converts a row of the version list, selected in `publication-statements.ts`. */
export function toPublishedVersion(row: SqlRow): PublishedVersion {
  return {
    version: Number(row.version),
    publishedAt: String(row.published_at),
    eventId: row.event_id === null || row.event_id === undefined ? null : String(row.event_id),
    flags: JSON.parse(String(row.flags)),
    segments: JSON.parse(String(row.segments)),
  }
}

/**
 * Returns the value for the variation column of `ff_evaluation_count`: the id, or an empty string
 * if `variationId` is `null`. Null is not stored, because a unique index permits several nulls.
 */
export function toVariationColumn(variationId: string | null): string {
  return variationId ?? NO_VARIATION
}

/** Converts a row of totals, selected in `usage-statements.ts`. */
export function toEvaluationTotal(row: SqlRow): EvaluationTotal {
  return {
    variationId: row.variation_id === NO_VARIATION ? null : String(row.variation_id),
    reason: row.reason as EvaluationTotal['reason'],
    source: row.source as EvaluationTotal['source'],
    count: Number(row.count),
    micros: Number(row.micros),
  }
}

/** Converts a row of observed contexts, selected in `usage-statements.ts`. */
export function toObservedAttributes(row: SqlRow): ObservedAttributes {
  return {
    hash: String(row.hash),
    kind: String(row.kind),
    key: String(row.key),
    lastSeen: String(row.last_seen),
    seenCount: Number(row.seen_count),
    reducedBy: row.reduced_by === null ? null : Number(row.reduced_by),
    settingsRevision: Number(row.settings_revision),
    contextText: String(row.context_json),
  }
}

function toColumn(value: unknown, dialect: SqlDialect): SqlValue {
  if (typeof value === 'boolean') return dialect.fromBoolean(value)
  if (value === null || typeof value === 'string' || typeof value === 'number') return value
  throw new FlagError('INTERNAL', 'Only a JSON field can contain an array or an object.')
}

function fromColumn(value: SqlValue, type: ColumnType | undefined): unknown {
  if (value === null || type === undefined) return value
  return type === 'json' ? JSON.parse(String(value)) : Boolean(value)
}
