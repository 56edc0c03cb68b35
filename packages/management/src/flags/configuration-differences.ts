import { FlagError, isFlagError, jsonEquals } from '@ff/core'
import { type ConfigurationUpdate, toSnakeCase } from '@ff/protocol/management'
import type { Records } from '@ff/storage'
import {
  changedFields,
  type NewRecord,
  type RecordChanges,
  type RecordWriter,
  toWire,
} from '../changes/record-writer.ts'
import type { PartKind } from './flag-configuration.ts'

type Difference = ConfigurationUpdate['differences'][number]

/** A change of one record: `before` is `null` for a new record, `after` for a removed one. */
export interface PartDifference<K extends PartKind = PartKind> {
  readonly kind: K
  readonly before: Records[K] | null
  readonly after: Records[K] | null
}

/**
 * Returns the differences in the records of one kind: the removed records of `present`, then the
 * new and changed records of `pairs`.
 */
export function differencesIn<K extends PartKind>(
  kind: K,
  present: readonly Records[K][],
  pairs: readonly Omit<PartDifference<K>, 'kind'>[],
): PartDifference[] {
  const kept = new Set(pairs.map(({ before }) => before?.id))
  return [
    ...present.filter(({ id }) => !kept.has(id)).map((before) => ({ kind, before, after: null })),
    ...pairs
      .filter(({ before, after }) => !jsonEquals(before as never, after as never))
      .map(({ before, after }) => ({ kind, before, after })),
  ]
}

/** Writes a difference. Returns it with the written record if the record is new. */
export async function applyDifference<K extends PartKind>(
  writer: RecordWriter,
  difference: PartDifference<K>,
): Promise<PartDifference<K>> {
  const { kind, before, after } = difference
  if (before !== null && after !== null) await writer.update(kind, before, after)
  else if (after !== null) return { kind, before, after: await insertPart(writer, kind, after) }
  else if (before !== null) await writer.remove(kind, before)
  return difference
}

/**
 * Inserts a record. If a deleted record of the same flag and environment has its id, this record is
 * restored. Throws `CONFLICT` if any other record has the id.
 */
async function insertPart<K extends PartKind>(
  writer: RecordWriter,
  kind: K,
  record: Records[K],
): Promise<Records[K]> {
  const { id, ...fields } = record
  try {
    return await writer.insert(kind, fields as NewRecord<K>, id)
  } catch (error) {
    if (!isFlagError(error) || error.code !== 'CONFLICT') throw error
  }
  const { createdAt: _, updatedAt: __, deletedAt: ___, revision: ____, ...wanted } = record
  try {
    return await writer.revive(kind, id, (deleted) => {
      const isHere = PLACE.every((field) => deleted[field] === record[field])
      if (!isHere) throw idTaken(id)
      return wanted as RecordChanges<K>
    })
  } catch (error) {
    throw isFlagError(error) && error.code === 'NOT_FOUND' ? idTaken(id) : error
  }
}

const PLACE = ['flagId', 'environmentId'] as const

function idTaken(id: string): FlagError {
  const issues = [{ path: 'id', message: 'is the id of another record; choose another UUID' }]
  const message = `The id ${id} belongs to another record. Choose another UUID.`
  return new FlagError('CONFLICT', message, { details: { issues } })
}

/** Returns the differences in the wire format. The caller can pause the work at each `yield`. */
export function* viewDifferences(
  differences: readonly PartDifference[],
): Generator<undefined, Difference[]> {
  const views: Difference[] = []
  for (const difference of differences) {
    views.push(viewDifference(difference))
    yield
  }
  return views
}

function viewDifference({ kind, before, after }: PartDifference): Difference {
  const was = before && toWire(kind, before)
  const becomes = after && toWire(kind, after)
  return {
    resource: toSnakeCase(kind),
    id: before?.id ?? after?.id ?? '',
    before: was && becomes ? changedFields(becomes, was) : was,
    after: was && becomes ? changedFields(was, becomes) : becomes,
  } as Difference
}
