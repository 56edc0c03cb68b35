import * as z from 'zod'
import { pageOf } from '../envelope.ts'
import { record } from '../record.ts'
import { auditEventCodec, auditVerificationCodec } from '../resources/audit-event.ts'
import { instant, text } from '../scalars.ts'
import { type Endpoint, noParams, paging, reading } from './endpoint.ts'

const reference = text(256).min(1)
const lowerCaseReference = reference.toLowerCase()

/** Which entries are meant: those for which everything given holds. */
const filters = {
  eventType: reference.optional(),
  actorId: reference.optional(),
  orgId: lowerCaseReference.optional(),
  projectId: lowerCaseReference.optional(),
  /** Entries of this instant and later. */
  fromDate: instant.optional(),
  /** Entries of this instant and earlier. */
  toDate: instant.optional(),
}

const filterNames = {
  eventType: 'event_type',
  actorId: 'actor_id',
  orgId: 'org_id',
  projectId: 'project_id',
  fromDate: 'from_date',
  toDate: 'to_date',
} as const

/** `field:direction`, in these six ways. */
const SORTS = {
  'created_at:asc': { field: 'createdAt', direction: 'asc' },
  'created_at:desc': { field: 'createdAt', direction: 'desc' },
  'event_type:asc': { field: 'eventType', direction: 'asc' },
  'event_type:desc': { field: 'eventType', direction: 'desc' },
  'actor_id:asc': { field: 'actorId', direction: 'asc' },
  'actor_id:desc': { field: 'actorId', direction: 'desc' },
} as const

type SortName = keyof typeof SORTS
const sortNames = Object.keys(SORTS) as SortName[]

const auditSort = z.codec(z.enum(sortNames), z.custom<(typeof SORTS)[SortName]>(), {
  decode: (name) => SORTS[name],
  encode: (sort) => sortNames.find((name) => SORTS[name] === sort) ?? 'created_at:desc',
})

export const auditLogEndpoints = {
  listAuditLog: {
    ...reading,
    path: '/audit/logs',
    permission: 'audit.read',
    params: noParams,
    query: record(
      {
        ...paging,
        ...filters,
        /** `redis`: the recent entries; the others: all of them. */
        source: z.enum(['redis', 'database', 'both']).optional().meta({ default: 'both' }),
        sort: auditSort.optional().meta({ default: 'created_at:desc' }),
      },
      filterNames,
    ),
    response: pageOf(auditEventCodec),
  },
  verifyAuditLog: {
    ...reading,
    path: '/audit/verify',
    permission: 'audit.read',
    params: noParams,
    query: record({ orgId: filters.orgId }, filterNames),
    response: auditVerificationCodec,
  },
  exportAuditLog: {
    ...reading,
    path: '/audit/export',
    permission: 'audit.read',
    params: noParams,
    query: record(filters, filterNames),
    lines: true,
    response: auditEventCodec,
  },
} as const satisfies Record<string, Endpoint>
