import { compareCodePoints } from '@ff/core'
import type { AuditEvent, AuditLog, PageOf } from '@ff/protocol/management'
import type { ListQuery, Records, Storage } from '@ff/storage'
import { type AnyPath, type LoadPath, loadPermitted } from '../access/access-request.ts'
import type { Actor } from '../access/actors.ts'
import { loadInstallation, loadOrganizationPath } from '../access/organization-paths.ts'
import type { Input } from '../requests/input.ts'
import { cutPage, pagingOf, toPage } from '../requests/pages.ts'
import { entriesInOrder } from './audit-chain.ts'
import type { AuditWalks } from './audit-walks.ts'

/** What reading the audit log needs. */
export interface AuditServices {
  readonly storage: Storage
  readonly actor: Actor
  readonly auditWalks: AuditWalks
}

type StoredEntry = Records['auditEvent']
type Query = Input<'listAuditLog', 'query'>['query']
type Filters = Pick<Query, keyof Input<'exportAuditLog', 'query'>['query']>

/** Entries for which everything given holds. */
interface Selection {
  readonly where: Partial<StoredEntry>
  readonly range: NonNullable<ListQuery<'auditEvent'>['range']>
}

type Sort = NonNullable<ListQuery<'auditEvent'>['sort']>

/** How many entries of each log count as recent. */
const RECENT = 1000

const NEWEST_FIRST = { field: 'createdAt', direction: 'desc' } as const

/**
 * One page of the audit log, the newest entries first unless asked otherwise. Sorted by time, the
 * entries of a chain are in the order in which they were written, whatever the clock showed.
 */
export async function listAuditLog(
  services: AuditServices,
  { query }: Input<'listAuditLog', 'query'>,
): Promise<PageOf<AuditEvent>> {
  const { storage } = services
  const selection = await selectionOf(services, query)
  const sort = sortOf(query.sort)
  if (query.source === 'redis')
    return cutPage(await recentEntries(services, selection, sort), query)
  return toPage(await storage.list('auditEvent', { ...selection, sort, ...pagingOf(query) }), query)
}

/**
 * All entries asked for, chain by chain in the order of their numbers, while they are read. The
 * caller must iterate to the end or return the iterator. Throws `RATE_LIMITED` while another request
 * walks through the same log.
 */
export async function exportAuditLog(
  services: AuditServices,
  { query }: Input<'exportAuditLog', 'query'>,
): Promise<AsyncIterable<AuditEvent>> {
  const { storage, auditWalks } = services
  const selection = await selectionOf(services, query)
  const { orgId } = selection.where
  const walk = auditWalks.begin(orgId)
  // The store is not asked to filter: looking for rare entries would keep it from answering others.
  const entries = entriesInOrder(storage, given({ orgId }), walk)
  return walk.through(entriesWithin(entries, selection))
}

/** Returns the organization whose entries the actor may see; `undefined`: of all organizations. */
export async function auditedOrganization(
  services: AuditServices,
  orgId: string | undefined,
): Promise<string | undefined> {
  const request = { permission: 'audit.read', load: loadAudited, params: { orgId } } as const
  const { organization } = await loadPermitted(services, request)
  return organization?.id ?? orgId
}

/** The platform also sees the entries of organizations that are gone. */
const loadAudited: LoadPath<{ readonly orgId: string | undefined }, AnyPath> = (
  session,
  access,
  { orgId },
) => {
  const { actor } = access
  if (actor.role === 'platform') return loadInstallation(session, access, {})
  return loadOrganizationPath(session, access, { orgId: orgId ?? actor.orgId ?? '' })
}

async function selectionOf(services: AuditServices, filters: Filters): Promise<Selection> {
  const { eventType, actorId, projectId, fromDate, toDate } = filters
  const orgId = await auditedOrganization(services, filters.orgId)
  return {
    where: given({ orgId, eventType, actorId, projectId }),
    // No timestamp sorts between one and the same with a `~`, so the range includes the last one.
    range: { field: 'createdAt', ...given({ from: fromDate, to: toDate && `${toDate}~` }) },
  }
}

/** Time goes by position, which also puts in order what happened within a millisecond. */
function sortOf({ field, direction }: Query['sort'] = NEWEST_FIRST): Sort {
  return { field: field === 'createdAt' ? 'position' : field, direction }
}

/** Of both logs, so that many log-ins push no change out. */
async function recentEntries(
  { storage }: AuditServices,
  { where, range }: Selection,
  sort: Sort,
): Promise<readonly StoredEntry[]> {
  const newest = async (log: AuditLog) => {
    const { data } = await storage.list('auditEvent', {
      where: given({ orgId: where.orgId }),
      range: { field: 'id', from: `${log}:`, to: `${log};` },
      sort: { field: 'position', direction: 'desc' },
      limit: RECENT,
    })
    return data
  }
  const recent = [...(await newest('changes')), ...(await newest('logins'))]
  return recent
    .filter((entry) => isWithin(entry, { where, range }))
    .sort((a, b) => compareEntries(a, b, sort))
}

function compareEntries(a: StoredEntry, b: StoredEntry, { field, direction }: Sort): number {
  const order = compareCodePoints(String(a[field]), String(b[field]))
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

type Given<T> = { [F in keyof T]?: Exclude<T[F], undefined> }

function given<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Given<T>
}
