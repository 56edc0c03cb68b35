import type { Reorder } from '@ff/protocol/management'
import type { Records } from '@ff/storage'
import type { RecordChanges, RecordWriter } from '../changes/record-writer.ts'
import { invalid } from '../requests/validation.ts'

/** The kinds of records that have an order among their siblings. */
export type OrderedKind = 'variation' | 'targetingRule'

/**
 * Sets the order indices of the listed records and returns the indices of all records, before and
 * after. Throws `INVALID_REQUEST`, before anything is written, for a repeated or unknown id.
 */
export async function reorder<K extends OrderedKind>(
  writer: RecordWriter,
  kind: K,
  records: readonly Records[K][],
  { orders }: Reorder,
): Promise<{ readonly before: Reorder; readonly after: Reorder }> {
  const places = new Map<string, number>()
  const known = new Set(records.map(({ id }) => id))
  for (const [index, { id, orderIndex }] of orders.entries()) {
    if (places.has(id)) throw invalid(`orders.${index}.id`, 'is listed twice')
    if (!known.has(id))
      throw invalid(`orders.${index}.id`, 'must be the id of a record of this flag')
    places.set(id, orderIndex)
  }
  const moved: Records[K][] = []
  for (const record of records) {
    const changes: RecordChanges<OrderedKind> = { orderIndex: places.get(record.id) }
    moved.push(await writer.update(kind, record, changes as RecordChanges<K>))
  }
  return { before: placesOf(records), after: placesOf(moved) }
}

function placesOf(records: readonly Records[OrderedKind][]): Reorder {
  return { orders: records.map(({ id, orderIndex }) => ({ id, orderIndex })) }
}
