import * as z from 'zod'
import { record } from '../record.ts'
import { id, instant, name, recordFields, recordNames, timestamp } from '../scalars.ts'

/** A bearer token for management; the token itself is shown once and never stored. */
export type AccessToken = z.output<typeof accessTokenCodec>

/** What an actor may do in one organization; `platform` administers the whole installation. */
const role = z.enum(['platform', 'owner', 'admin', 'editor', 'viewer'])
export type Role = z.output<typeof role>

export const accessTokenCodec = record(
  {
    id,
    /** null only for the role `platform`. */
    orgId: id.nullable(),
    name,
    role,
    /** The first 11 characters, to recognise a token by. */
    prefix: z.string(),
    expiresAt: timestamp.nullable(),
    lastUsedAt: timestamp.nullable(),
    /** The id of the actor who created it. */
    createdBy: z.string(),
    ...recordFields,
  },
  {
    orgId: 'org_id',
    expiresAt: 'expires_at',
    lastUsedAt: 'last_used_at',
    createdBy: 'created_by',
    ...recordNames,
  },
)

export type NewAccessToken = z.output<typeof newAccessTokenCodec>

export const newAccessTokenCodec = record(
  { name, role, expiresAt: instant.nullable().optional() },
  { expiresAt: 'expires_at' },
)
