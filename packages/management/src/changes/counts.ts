import type { Organization } from '@ff/protocol/management'
import type { StorageSession } from '@ff/storage'
import type { RecordWriter } from './record-writer.ts'

/**
 * Updates the organization's numbers of projects, environments and flags, in the transaction that
 * adds or deletes them; its lock prevents concurrent counting. The revision of the organization
 * stays, because no caller has changed it.
 */
export async function keepCounts(
  session: StorageSession,
  organization: Organization | null,
  writer: RecordWriter,
): Promise<void> {
  const more = {
    projectCount: writer.balanceOf('project'),
    environmentCount: writer.balanceOf('environment'),
    flagCount: writer.balanceOf('flag'),
  }
  if (organization === null || Object.values(more).every((number) => number === 0)) return
  const { id, projectCount, environmentCount, flagCount } = organization
  if ((await session.find('organization', id)) === undefined) return
  await session.update('organization', id, {
    projectCount: projectCount + more.projectCount,
    environmentCount: environmentCount + more.environmentCount,
    flagCount: flagCount + more.flagCount,
  })
}
