import { isFlagError } from '@ff/core'
import fc from 'fast-check'
import type { DefinitionChange } from '../ports/publications.ts'
import type { Kind, Records } from '../ports/records.ts'
import type { Changes, ListQuery, Storage } from '../ports/storage.ts'
import {
  AT,
  anyText,
  type Command,
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
} from './commands/model-values.ts'
import { usageCommands } from './commands/usage-commands.ts'
import { withSortedKeys } from './mergeable.ts'
import { flagDefinition, publishedSegment } from './samples/fixtures.ts'
import { SAMPLES } from './samples/samples.ts'

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

function recordCommands<K extends ModelKind>(kind: K): fc.Arbitrary<SessionCommand> {
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

const keys = fc.array(fc.constantFrom('a', 'b', 'c', 'ключ', ''), { maxLength: 4 })

const flagChange: fc.Arbitrary<DefinitionChange> = fc
  .tuple(id, nullable(fc.tuple(key, fc.boolean())))
  .map(([own, state]) => ({
    kind: 'flag',
    id: own,
    definition: state && flagDefinition({ id: own, key: state[0], isActive: state[1] }),
  }))

const segmentChange: fc.Arbitrary<DefinitionChange> = fc
  .tuple(id, nullable(key))
  .map(([own, name]) => ({
    kind: 'segment',
    id: own,
    definition: name === null ? null : publishedSegment({ id: own, key: name }),
  }))

const manyKeys = fc
  .integer({ min: 1, max: 1500 })
  .map((count) => Array.from({ length: count }, (_, index) => `user-${index}`))

const keysChange: fc.Arbitrary<DefinitionChange> = fc.record({
  kind: fc.constant('segmentKeys' as const),
  segmentId: id,
  list: fc.constantFrom('included' as const, 'excluded' as const),
  added: fc.oneof({ weight: 4, arbitrary: keys }, { weight: 1, arbitrary: manyKeys }),
  removed: fc.oneof({ weight: 4, arbitrary: keys }, { weight: 1, arbitrary: manyKeys }),
})

const version = fc.integer({ min: -1, max: 12 })

const publicationCommands: fc.Arbitrary<SessionCommand> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        environment,
        fc.array(fc.oneof(flagChange, segmentChange, keysChange), { maxLength: 4 }),
      )
      .map(([own, changes]) =>
        command('publish', { own, changes }, (session) =>
          session.publish(own, changes, {
            publishedAt: AT,
            eventId: changes[0]?.kind ?? null,
            affectsClients: changes.length % 2 === 0,
          }),
        ),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(environment, fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 4 }))
      .map(([own, page, limit]) =>
        command('listVersions', { own, page, limit }, (session) =>
          session.listVersions(own, { page, limit }),
        ),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(environment, optional(version))
      .map(([own, at]) =>
        command('loadFlagSet', { own, at }, (session) => session.loadFlagSet(own, at)),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(environment, version)
      .map(([own, since]) =>
        command('loadChanges', { own, since }, async (session) =>
          withSortedKeys(await session.loadChanges(own, since)),
        ),
      ),
  },
)

const sessionCommand: fc.Arbitrary<SessionCommand> = fc.oneof(
  ...KINDS.map((kind): fc.Arbitrary<SessionCommand> => recordCommands(kind)),
  publicationCommands,
  publicationCommands,
  usageCommands,
)

/**
 * Generates a transaction of commands. Its commands can fail, and the transaction can end with a
 * rollback.
 */
const transaction: fc.Arbitrary<Command> = fc
  .tuple(fc.array(sessionCommand, { minLength: 1, maxLength: 6 }), fc.boolean())
  .map(([steps, fails]) => ({
    name: fails ? 'transaction that fails' : 'transaction',
    input: steps,
    run: (storage) => transact(storage, steps, fails),
  }))

async function transact(
  storage: Storage,
  steps: readonly SessionCommand[],
  fails: boolean,
): Promise<unknown> {
  let results: unknown[] = []
  const failure = new Error('rolled back')
  const work = storage.transaction('lock', async (tx) => {
    results = []
    for (const step of steps) results.push(await step.run(tx).catch(refusalOf))
    if (fails) throw failure
  })
  await work.catch((error: unknown) => {
    if (error !== failure) throw error
  })
  return results
}

/** Generates the command sequences of the model test. */
export const commands: fc.Arbitrary<readonly Command[]> = fc.array(
  fc.oneof({ weight: 4, arbitrary: sessionCommand }, { weight: 1, arbitrary: transaction }),
  { maxLength: 40, size: 'max' },
)

function refusalOf(error: unknown): unknown {
  if (isFlagError(error)) return { refusal: error.code }
  throw error
}
