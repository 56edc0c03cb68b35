import type { EndpointName } from '@ff/protocol/management'
import type { Records } from '@ff/storage'
import { invalid } from '../requests/validation.ts'

/** The changes of an archived flag: one takes it back, the others remove it or a part of it. */
const OF_ARCHIVED: ReadonlySet<EndpointName> = new Set([
  'updateFlag',
  'deleteFlag',
  'deleteScheduledChange',
])

/** Throws `INVALID_REQUEST` if an endpoint may not change the flag of its path, which is archived. */
export function assertChangeable(
  name: EndpointName,
  path: { readonly flag?: Records['flag'] },
): void {
  if (path.flag !== undefined && !OF_ARCHIVED.has(name)) assertNotArchived(path.flag)
}

/** Throws `INVALID_REQUEST` if a flag is archived: a change of it would publish nothing. */
export function assertNotArchived(flag: Records['flag']): void {
  if (flag.archivedAt === null) return
  throw invalid(
    'flagId',
    `is the flag "${flag.key}", which is archived. Set its field "archived" to false first.`,
  )
}
