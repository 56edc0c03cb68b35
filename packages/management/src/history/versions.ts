import type { FlagSetDefinition } from '@ff/core'
import { endpoints, type PageOf, type Version } from '@ff/protocol/management'
import type { PublishedVersion, StorageSession } from '@ff/storage'
import { loadPermitted } from '../access/access-request.ts'
import { notFound } from '../access/permissions.ts'
import { loadEnvironmentPath } from '../access/project-paths.ts'
import type { Management } from '../changes/management.ts'
import type { Reader } from '../changes/record-writer.ts'
import type { Input } from '../requests/input.ts'
import { pagingOf, toPage } from '../requests/pages.ts'

/** One page of an environment's published versions, newest first. */
export async function listVersions(
  management: Management,
  { params, query }: Input<'listVersions', 'params' | 'query'>,
): Promise<PageOf<Version>> {
  const { permission } = endpoints.listVersions
  const { storage } = management
  const request = { permission, load: loadEnvironmentPath, params }
  const { environment } = await loadPermitted(management, request)
  const { data, total } = await storage.listVersions(environment.id, pagingOf(query))
  const versions: Version[] = []
  for (const published of data) versions.push(await viewVersion(storage, published))
  return toPage({ data: versions, total }, query)
}

/** The whole flag set of an environment as it was published under a version. */
export async function getVersion(
  management: Management,
  { params }: Input<'getVersion', 'params'>,
): Promise<FlagSetDefinition> {
  const { permission } = endpoints.getVersion
  const request = { permission, load: loadEnvironmentPath, params }
  const { environment } = await loadPermitted(management, request)
  return loadVersion(management.storage, environment.id, params.version)
}

/** A past or present flag set; throws `NOT_FOUND` for a version that was never published. */
export async function loadVersion(
  session: Pick<StorageSession, 'loadFlagSet'>,
  environmentId: string,
  version: number,
): Promise<FlagSetDefinition> {
  const flagSet = await session.loadFlagSet(environmentId, version)
  if (flagSet === undefined) throw notFound('version')
  return flagSet
}

async function viewVersion(
  reader: Reader,
  { version, publishedAt, eventId, flags, segments }: PublishedVersion,
): Promise<Version> {
  const event = eventId === null ? undefined : await reader.find('auditEvent', eventId)
  return {
    version,
    publishedAt,
    eventId: event?.id ?? null,
    eventType: event?.eventType ?? null,
    actor: event?.actor ?? null,
    flags: [...flags],
    segments: [...segments],
  }
}
