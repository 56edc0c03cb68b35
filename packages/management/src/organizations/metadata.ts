import type { Organization, OrganizationChanges } from '@ff/protocol/management'
import { invalid } from '../requests/validation.ts'

type Metadata = Organization['metadata']

const MOST_KEYS = 1000
const MOST_BYTES = 64 * 1024

const utf8 = new TextEncoder()

/**
 * Metadata with some entries set and others removed. Throws `INVALID_REQUEST` for a key that is
 * to be set and removed at once, and when the whole grows beyond 1000 keys or 64 KiB of JSON.
 */
export function mergeMetadata(
  metadata: Metadata,
  changes: Pick<OrganizationChanges, 'metadataUpdates' | 'metadataDeletes'>,
): Metadata {
  const { metadataUpdates: updates = {}, metadataDeletes: deletes = [] } = changes
  // An object must not be given such a member by assignment, and codecs leave it out.
  if (Object.hasOwn(updates, '__proto__')) throw invalid('metadata_updates', 'names __proto__')
  const doubled = deletes.findIndex((key) => Object.hasOwn(updates, key))
  if (doubled >= 0) throw invalid(`metadata_deletes.${doubled}`, 'is to be set as well')
  const entries = new Map(Object.entries(metadata))
  for (const key of deletes) entries.delete(key)
  for (const [key, value] of Object.entries(updates)) entries.set(key, value)
  const merged = Object.fromEntries(entries)
  if (Object.keys(updates).length > 0) assertSize(merged)
  return merged
}

function assertSize(metadata: Metadata): void {
  if (Object.keys(metadata).length > MOST_KEYS) {
    throw invalid('metadata_updates', `would make more than ${MOST_KEYS} keys`)
  }
  if (utf8.encode(JSON.stringify(metadata)).byteLength > MOST_BYTES) {
    throw invalid('metadata_updates', `would make more than ${MOST_BYTES} bytes of metadata`)
  }
}
