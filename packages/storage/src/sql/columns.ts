import type { Kind, Records } from '../ports/records.ts'

/** The type of a column with encoded values. Arrays and objects are stored as JSON text. */
export type ColumnType = 'boolean' | 'json'

type TypesOf<K extends Kind> = {
  readonly [F in keyof Records[K] as Records[K][F] extends string | number | null ? never : F]: [
    Records[K][F],
  ] extends [boolean | null]
    ? 'boolean'
    : 'json'
}

type KindsWithTypes = { [K in Kind]: keyof TypesOf<K> extends never ? never : K }[Kind]

/** The types of fields that are neither text nor numbers. */
const COLUMN_TYPES: { readonly [K in KindsWithTypes]: TypesOf<K> } = {
  organization: { metadata: 'json', hasUsedPaidTrial: 'boolean' },
  plan: { mostPopular: 'boolean' },
  invoice: { metadata: 'json' },
  paymentEvent: { subject: 'json' },
  project: { newFlagsClientVisible: 'boolean' },
  environment: {
    isDefault: 'boolean',
    isProduction: 'boolean',
    commentRequired: 'boolean',
    keptAttributes: 'json',
    keptSince: 'json',
  },
  flag: { tags: 'json', clientVisible: 'boolean', summary: 'json', marks: 'json' },
  flagState: { isActive: 'boolean', targets: 'json', prerequisites: 'json' },
  variation: { isDefault: 'boolean' },
  targetingRule: { conditions: 'json' },
  segment: { rules: 'json', force: 'boolean' },
  rollout: { variants: 'json', ranges: 'json', previousRanges: 'json' },
  scheduledChange: { body: 'json', createdBy: 'json' },
  auditEvent: { payload: 'json', actor: 'json' },
  idempotencyRecord: { result: 'json' },
  webhook: { eventTypes: 'json', isActive: 'boolean' },
  observedContext: { contextJson: 'json', evaluationSuccess: 'boolean' },
}

const TYPES_BY_FIELD: ReadonlyMap<string, ColumnType> = new Map(
  Object.entries(COLUMN_TYPES).flatMap(([kind, types]) =>
    Object.entries<ColumnType>(types).map(([field, type]) => [`${kind}.${field}`, type]),
  ),
)

type PermanentKind = { [K in Kind]: 'deletedAt' extends keyof Records[K] ? never : K }[Kind]

/** The kinds of records without `deletedAt`. */
const PERMANENT_KINDS: { readonly [K in PermanentKind]: true } = {
  paymentEvent: true,
  auditEvent: true,
  auditHead: true,
  webhookDelivery: true,
  userSketch: true,
}

/** Returns the table of a kind of record. The table has one column for each field. */
export function tableOf(kind: Kind): string {
  return `ff_${columnOf(kind)}`
}

/** Returns the column of a field: `order_index` for `orderIndex`. */
export function columnOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Returns the field of a column: `orderIndex` for `order_index`. */
export function fieldOf(column: string): string {
  return column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}

/** Returns the column type of a field; `undefined` if the field is text or a number. */
export function columnTypeOf(kind: Kind, field: string): ColumnType | undefined {
  return TYPES_BY_FIELD.get(`${kind}.${field}`)
}

/** Returns `true` if records of this kind have `deletedAt`. */
export function isDeletable(kind: Kind): boolean {
  return !Object.hasOwn(PERMANENT_KINDS, kind)
}
