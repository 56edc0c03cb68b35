import { compareCodePoints } from '@ff/core'
import type { AuditEvent, PageOf } from '@ff/protocol/management'
import type { ListQuery, Records } from '@ff/storage'
import type { Actor } from '../access/actors.ts'
import type { NoIds } from '../access/paths.ts'
import { defineQuery } from '../changes/use-case.ts'
import type { CursorPosition } from '../requests/cursors.ts'
import { given, rangeOf } from '../requests/filters.ts'
import type { Input } from '../requests/input.ts'
import { type CursorOrder, listPage, pagingOf, startOf, toCursorPage } from '../requests/pages.ts'
import { entriesInOrder } from './audit-entries.ts'
import type { AuditWalks } from './audit-walks.ts'
import type { RecentEntries } from './recent-entries.ts'

type StoredEntry = Records['auditEvent']
type Query = Input<'listAuditLog', 'query'>['query']
type Filters = Pick<Query, keyof Input<'exportAuditLog', 'query'>['query']>

/** The filters of entries. An entry must match all of them. */
interface Selection {
  readonly where: Partial<StoredEntry>
  readonly range: NonNullable<ListQuery<'auditEvent'>['range']>
}

type Sort = NonNullable<ListQuery<'auditEvent'>['sort']>

const NEWEST_FIRST = { field: 'createdAt', direction: 'desc' } as const

/**
 * Returns the id of the organization that is loaded before its audit log is read. Returns no id for
 * the role `platform`, because that role can also read the logs of deleted organizations.
 */
export function auditedOrganization(
  { orgId }: { readonly orgId?: string | undefined },
  actor: Actor,
): { readonly orgId: string } | NoIds {
  return actor.role === 'platform' ? {} : { orgId: orgId ?? actor.orgId ?? '' }
}

/**
 * Returns the id of the organization that a log belongs to; `undefined` for the log of all
 * organizations.
 */
export function auditedId(organization: { readonly id: string } | null, orgId: string | undefined) {
  return organization?.id ?? orgId
}

/** Creates the use case that lists the audit log. */
export function createAuditLogUseCases(recentEntries: RecentEntries) {
  return {
    /**
     * Returns one page of the audit log, by default the newest entries first. In a list that is
     * sorted by time, the entries of a chain are in the order in which they were written, even if
     * the clock was set back.
     */
    listAuditLog: defineQuery('listAuditLog', {
      load: ({ query }, actor) => auditedOrganization(query, actor),
      async run({ storage, organization, query }) {
        const selection = selectionOf(query, auditedId(organization, query.orgId))
        const sort = sortOf(query.sort)
        if (query.source === 'redis') {
          const { orgId } = selection.where
          // Each log has its own limit, so that many log-ins do not displace the changes.
          const changes = await recentEntries.list(storage, 'changes', orgId)
          const logIns = await recentEntries.list(storage, 'logins', orgId)
          return cutEntries(selected([...changes, ...logIns], selection, sort), sort, query)
        }
        const order = { sortBy: sort.field, direction: sort.direction, hasCursors: true } as const
        return listPage(storage, 'auditEvent', { ...selection, ...order, query })
      },
    }),
  }
}

/** Creates the use case that exports the audit log. */
export function createAuditExportUseCases(auditWalks: AuditWalks) {
  return {
    /**
     * Returns an iterable of all matching entries, chain by chain in the order of their sequence
     * numbers. Entries are read during the iteration. The caller must iterate to the end or call
     * `return` on the iterator. Throws `RATE_LIMITED` while another request exports or verifies the
     * same log.
     */
    exportAuditLog: defineQuery('exportAuditLog', {
      load: ({ query }, actor) => auditedOrganization(query, actor),
      async run({ storage, organization, query }): Promise<AsyncIterable<AuditEvent>> {
        const orgId = auditedId(organization, query.orgId)
        const walk = auditWalks.begin(orgId)
        // With a filter in the store, a search for rare entries would block its other queries.
        const entries = entriesInOrder(storage, given({ orgId }), walk)
        return walk.through(entriesWithin(entries, selectionOf(query, orgId)))
      },
    }),
  }
}

function selectionOf(
  { eventType, actorId, projectId, fromDate, toDate }: Filters,
  orgId: string | undefined,
): Selection {
  return {
    where: given({ orgId, eventType, actorId, projectId }),
    range: rangeOf<'auditEvent'>('createdAt', { from: fromDate, to: toDate }),
  }
}

/**
 * Returns a sort order with the position instead of the time, because positions also order entries
 * of the same millisecond.
 */
function sortOf({ field, direction }: Query['sort'] = NEWEST_FIRST): Sort {
  return { field: field === 'createdAt' ? 'position' : field, direction }
}

/** Returns the sorted entries of both logs that match the filters. */
function selected(
  entries: readonly StoredEntry[],
  { where, range }: Selection,
  sort: Sort,
): readonly StoredEntry[] {
  return entries
    .filter((entry) => isWithin(entry, { where, range }))
    .sort((a, b) => comparePositions(positionOf(a, sort), positionOf(b, sort), sort))
}

/** Returns a page of sorted entries. */
function cutEntries(all: readonly StoredEntry[], sort: Sort, query: Query): PageOf<StoredEntry> {
  const order: CursorOrder<StoredEntry> = {
    name: `recent ${sort.field} ${sort.direction}`,
    positionOf: (entry) => positionOf(entry, sort),
  }
  const { page, limit } = pagingOf(query)
  const after = startOf(query, order)
  const rest =
    after === undefined
      ? all.slice((page - 1) * limit)
      : all.filter((entry) => comparePositions(positionOf(entry, sort), after, sort) > 0)
  const found = { data: rest.slice(0, limit), total: all.length }
  return toCursorPage(found, query, { ...order, hasNext: rest.length > limit })
}

function positionOf(entry: StoredEntry, { field }: Sort): CursorPosition {
  return { value: String(entry[field]), id: entry.id }
}

function comparePositions(a: CursorPosition, b: CursorPosition, { direction }: Sort): number {
  const order = compareCodePoints(a.value, b.value)
  if (order === 0) return compareCodePoints(a.id, b.id)
  return direction === 'asc' ? order : -order
}

async function* entriesWithin(
  entries: AsyncIterable<StoredEntry>,
  selection: Selection,
): AsyncGenerator<StoredEntry, void> {
  for await (const entry of entries) if (isWithin(entry, selection)) yield entry
}

function isWithin(entry: StoredEntry, { where, range: { from, to } }: Selection): boolean {
  const { createdAt } = entry
  const fields = Object.entries(where) as [keyof StoredEntry, unknown][]
  return (
    fields.every(([field, value]) => entry[field] === value) &&
    (from === undefined || createdAt >= from) &&
    (to === undefined || createdAt < to)
  )
}
