import type { Organization } from '@ff/protocol/management'
import type { StorageSession } from '@ff/storage'
import type { RecordWriter } from './record-writer.ts'

/**
 * Keeps with the organization how many projects, environments and flags it has, in the transaction
 * that makes them more or fewer: its only one, so that no two can count at once. That is nobody's
 * change of the organization, so its revision stays.
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
