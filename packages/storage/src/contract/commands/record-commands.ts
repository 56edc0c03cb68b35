import fc from 'fast-check'
import type { Kind, Records } from '../../ports/records.ts'
import type { Changes, ListQuery } from '../../ports/storage.ts'
import { SAMPLES } from '../samples/samples.ts'
import {
  AT,
  anyText,
  command,
  environment,
  id,
  json,
  key,
  nullable,
  optional,
  parent,
  type SessionCommand,
  text,
  time,
} from './model-values.ts'

/**
 * The kinds of records in commands. The kinds cover unique keys, arrays of texts, numbers and JSON. Records of
 * two of the kinds cannot be deleted.
 */
export const KINDS = [
  'flag',
  'variation',
  'organization',
  'auditEvent',
  'auditHead',
  'observedContext',
] as const
type ModelKind = (typeof KINDS)[number]

type FieldsOf<K extends Kind> = { readonly [F in keyof Records[K]]?: fc.Arbitrary<Records[K][F]> }

/**
 * The generators of the fields that commands set, by kind. All other fields have the values of the
 * sample record.
 */
const FIELDS: { readonly [K in ModelKind]: FieldsOf<K> } = {
  flag: {
    projectId: parent,
    key,
    name: text,
    description: text,
    tags: fc.array(text, { maxLength: 3 }),
    archivedAt: nullable(time),
    marks: fc.array(text, { maxLength: 3 }),
    revision: fc.integer({ min: 1, max: 3 }),
  },
  variation: {
    flagId: parent,
    key,
    value: text,
    isDefault: fc.boolean(),
    orderIndex: fc.integer({ min: 0, max: 12 }),
  },
  organization: { name: text, metadata: json, apiUsage: fc.nat() },
  auditEvent: {
    orgId: parent,
    createdAt: time,
    eventType: key,
    payload: json,
    sequence: fc.integer({ min: 1, max: 12 }),
    position: text,
  },
  auditHead: { sequence: fc.nat(), hash: text, position: text },
  observedContext: {
    environmentId: environment,
    hash: key,
    key: text,
    contextJson: json,
    firstSeen: time,
    lastSeen: time,
    seenCount: fc.nat(),
    evaluationSuccess: fc.boolean(),
  },
}

const elements = fc.array(text, { maxLength: 2 })

const QUERIES: { readonly [K in ModelKind]: fc.Arbitrary<ListQuery<K>> } = {
  flag: query<'flag'>({
    where: fc.record({ projectId: parent, archivedAt: nullable(time) }, { requiredKeys: [] }),
    rangeField: 'archivedAt',
    sortFields: ['key', 'name', 'archivedAt', 'revision'],
    contains: fc.record({ tags: elements, marks: elements }, { requiredKeys: [] }),
  }),
  variation: query<'variation'>({
    where: fc.record({ flagId: parent, isDefault: fc.boolean() }, { requiredKeys: [] }),
    rangeField: 'updatedAt',
    sortFields: ['orderIndex', 'isDefault', 'value'],
  }),
  organization: query<'organization'>({
    where: fc.record({ planId: fc.constant(null) }, { requiredKeys: [] }),
    rangeField: 'createdAt',
    sortFields: ['name', 'apiUsage', 'trialEndsAt'],
  }),
  auditEvent: query<'auditEvent'>({
    where: fc.record({ orgId: parent, eventType: key }, { requiredKeys: [] }),
    rangeField: 'id',
    sortFields: ['createdAt', 'eventType', 'sequence', 'position'],
  }),
  auditHead: query<'auditHead'>({
    where: fc.record({ id }, { requiredKeys: [] }),
    rangeField: 'id',
    sortFields: ['sequence', 'position'],
  }),
  observedContext: query<'observedContext'>({
    where: fc.record(
      { environmentId: environment, key: fc.oneof(text, anyText), evaluationSuccess: fc.boolean() },
      { requiredKeys: [] },
    ),
    rangeField: 'lastSeen',
    sortFields: ['lastSeen', 'seenCount'],
  }),
}

interface QueryArbitraries<K extends ModelKind> {
  readonly where: fc.Arbitrary<Partial<Records[K]>>
  readonly rangeField: keyof Records[K] & string
  readonly sortFields: readonly (keyof Records[K] & string)[]
  readonly contains?: fc.Arbitrary<NonNullable<ListQuery<K>['contains']>>
}

function query<K extends ModelKind>(parts: QueryArbitraries<K>): fc.Arbitrary<ListQuery<K>> {
  const field = fc.constant(parts.rangeField)
  const bound = parts.rangeField === 'id' ? id : time
  const range = fc.record({ field, from: bound, to: bound }, { requiredKeys: ['field'] })
  const sort = fc.record({
    field: fc.constantFrom(...parts.sortFields),
    direction: fc.constantFrom('asc' as const, 'desc' as const),
  })
  const pages = { page: fc.integer({ min: 1, max: 3 }), limit: fc.integer({ min: 1, max: 3 }) }
  const contains = parts.contains ?? fc.constant({})
  return fc.record(
    { where: parts.where, range, search: text, contains, sort, ...pages },
    { requiredKeys: [] },
  )
}

/**
 * Generates values for all fields of the kind in `FIELDS`, or for a random subset of these fields.
 */
function fieldsOf<K extends ModelKind>(kind: K, which: 'all' | 'some') {
  const fields: Readonly<Record<string, fc.Arbitrary<unknown>>> = FIELDS[kind]
  const record = which === 'all' ? fc.record(fields) : fc.record(fields, { requiredKeys: [] })
  return record as fc.Arbitrary<Partial<Omit<Records[K], 'id' | 'createdAt'>>>
}

/** Generates commands that write and read records of a kind. */
export function recordCommands<K extends ModelKind>(kind: K): fc.Arbitrary<SessionCommand> {
  const insert = fc.tuple(id, fieldsOf(kind, 'all')).map(([own, fields]) => {
    const record: Records[K] = { ...SAMPLES[kind](), ...fields, id: own }
    return command(`insert ${kind}`, record, (session) => session.insert(kind, record))
  })
  const find = id.map((own) => command(`find ${kind}`, own, (session) => session.find(kind, own)))
  const findDeleted = id.map((own) =>
    command(`find deleted ${kind}`, own, (session) => session.findDeleted(kind, own)),
  )
  const list = QUERIES[kind].map((input) =>
    command(`list ${kind}`, input, (session) => session.list(kind, input)),
  )
  const hasRevision = Object.hasOwn(SAMPLES[kind](), 'revision')
  const revision = hasRevision ? optional(fc.integer({ min: 1, max: 3 })) : fc.constant(undefined)
  const update = fc
    .tuple(id, changesOf(kind), revision)
    .map(([own, changes, revision]) =>
      command(`update ${kind}`, { own, changes, revision }, (session) =>
        session.update(kind, own, changes, revision),
      ),
    )
  const revive = id.map((own) =>
    command(`revive ${kind}`, own, (session) => session.revive(kind, own)),
  )
  const purge = QUERIES[kind].map(({ where, range }) => {
    const query = { ...(where && { where }), ...(range && { range }) }
    return command(`purge ${kind}`, query, (session) => session.purge(kind, query))
  })
  const reads: fc.Arbitrary<SessionCommand>[] = [find, findDeleted, list]
  const arbitraries = [...reads, insert, insert, revive, purge]
  if (kind !== 'auditEvent') arbitraries.push(update)
  return fc.oneof(...arbitraries)
}

/**
 * Generates changes of a random subset of the fields. If records of the kind can be deleted, the
 * change can also be a deletion.
 */
function changesOf<K extends ModelKind>(kind: K): fc.Arbitrary<Changes<K>> {
  if (kind === 'auditHead') return fieldsOf(kind, 'some') as fc.Arbitrary<Changes<K>>
  return fc.oneof(
    { weight: 3, arbitrary: fieldsOf(kind, 'some') },
    { weight: 1, arbitrary: fc.constant({ deletedAt: AT }) },
  ) as fc.Arbitrary<Changes<K>>
}
