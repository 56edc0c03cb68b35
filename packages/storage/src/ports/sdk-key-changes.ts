import type { Kind, Records } from './records.ts'

const UNVERSIONED: ReadonlySet<string> = new Set<keyof Records['sdkKey']>(['lastUsedAt'])

/** Returns `true` if a successful update with these changes increases the version of all SDK keys. */
export function changesSdkKeys(kind: Kind, changes: object): boolean {
  if (kind !== 'sdkKey') return false
  return Object.entries(changes).some(
    ([field, value]) => value !== undefined && !UNVERSIONED.has(field),
  )
}
