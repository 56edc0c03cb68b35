import { isId } from '@ff/protocol/management'
import type { Records, StorageSession } from '@ff/storage'

/** The kinds of records that have a key. */
type KeyedKind = 'environment' | 'flag' | 'segment' | 'variation'

/** The fields that all records of a parent have in common, such as `projectId`. */
type Parent<K extends KeyedKind> = Partial<Records[K]>

/**
 * Returns the record of a parent with an id or a key; `undefined` if there is none. A text in the
 * form of an id is a key only if no record of the parent has this id. An id of another parent
 * causes the same queries as an unknown id, so that their response times do not differ.
 *
 * `parent` is awaited after the query by id has started. Without a parent, there is no record.
 */
export async function findByIdOrKey<K extends KeyedKind>(
  reader: Pick<StorageSession, 'find' | 'list'>,
  kind: K,
  { text, parent }: { readonly text: string; readonly parent: MaybePromise<Parent<K> | undefined> },
): Promise<Records[K] | undefined> {
  const byId = isId(text) ? reader.find(kind, text.toLowerCase()) : undefined
  const [found, where] = await Promise.all([byId, parent])
  if (where === undefined) return undefined
  if (found !== undefined && hasFields(found, where)) return found
  const query = { where: { ...where, key: text }, limit: 1, isCounted: false }
  return (await reader.list(kind, query as never)).data[0]
}

type MaybePromise<T> = T | Promise<T>

function hasFields(record: object, fields: object): boolean {
  const known: Readonly<Record<string, unknown>> = { ...record }
  return Object.entries(fields).every(([field, value]) => known[field] === value)
}

/** Returns the record with an id or, if there is none, with a key; `undefined` if there is none. */
export function withIdOrKey<R extends { readonly id: string; readonly key: string }>(
  records: readonly R[],
  text: string,
): R | undefined {
  const wanted = text.toLowerCase()
  return records.find(({ id }) => id === wanted) ?? records.find(({ key }) => key === text)
}
