import type { FlagSetDefinition } from '@ff/core'
import type { Version } from '@ff/protocol/management'
import type { PublishedVersion, StorageSession } from '@ff/storage'
import { notFound } from '../access/permissions.ts'
import type { Reader } from '../changes/record-writer.ts'
import { defineUseCases } from '../changes/use-case.ts'
import { type CursorOrder, pagingOf, startOf, toCursorPage } from '../requests/pages.ts'
import { invalid } from '../requests/validation.ts'

/** The use cases of versions. */
export const versionUseCases = defineUseCases({
  /** Returns one page of an environment's published versions, newest first. */
  async listVersions({ storage, environment, query }) {
    const { page, limit } = pagingOf(query)
    const before = versionOf(startOf(query, ORDER)?.value)
    const { data, total } = await storage.listVersions(environment.id, { page, limit, before })
    const versions: Version[] = []
    for (const published of data) versions.push(await viewVersion(storage, published))
    // The versions of an environment are numbered from 1 without gaps.
    const hasNext = (versions.at(-1)?.version ?? 1) > 1
    return toCursorPage({ data: versions, total }, query, { ...ORDER, hasNext })
  },

  /** Returns the complete flag set of an environment at a version. */
  getVersion: ({ storage, environment, params }) =>
    loadVersion(storage, environment.id, params.version),
})

const ORDER: CursorOrder<Version> = {
  name: 'version desc',
  positionOf: ({ version }) => ({ value: String(version), id: '' }),
}

/** Returns the version in the position of a cursor. */
function versionOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value)
  throw invalid('after', 'must be `next` of a page of the same list')
}

/** Loads the flag set of a version. Throws `NOT_FOUND` if the version was never published. */
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
