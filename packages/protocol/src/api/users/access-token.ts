import * as z from 'zod'
import { creating, deleting, reading, searchQuery } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { ORGANIZATION } from '../paths.ts'
import { record } from '../record.ts'
import { role } from '../roles.ts'
import { id, instant, name, recordFields, timestamp } from '../scalars.ts'

/** A bearer token for management; the token itself is shown once and never stored. */
export type AccessToken = z.output<typeof accessTokenCodec>

const fields = {
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
}

/** The codec of `AccessToken`. */
export const accessTokenCodec = record(fields)

/** A token in the answer that creates it; `token` is null when that request is repeated. */
export type IssuedAccessToken = z.output<typeof issuedAccessTokenCodec>

/** The codec of `IssuedAccessToken`. */
export const issuedAccessTokenCodec = record({ ...fields, token: z.string().nullable() })

/** The body of `createAccessToken`. */
export type NewAccessToken = z.output<typeof newAccessTokenCodec>

/** The codec of `NewAccessToken`. */
export const newAccessTokenCodec = record({ name, role, expiresAt: instant.nullable().optional() })

const TOKENS = `${ORGANIZATION}/tokens` as const
const permission = 'tokens.write'

/** The endpoints of access tokens. */
export const accessTokenEndpoints = {
  listAccessTokens: reading(TOKENS, { query: searchQuery, response: pageOf(accessTokenCodec) }),
  createAccessToken: creating(TOKENS, {
    permission,
    body: newAccessTokenCodec,
    response: issuedAccessTokenCodec,
  }),
  deleteAccessToken: deleting(`${TOKENS}/{tokenId}`, { permission }),
}
