import * as z from 'zod'
import { creating, deleting, reading, searchQuery } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { ORGANIZATION } from '../paths.ts'
import { record } from '../record.ts'
import { role } from '../roles.ts'
import { id, instant, name, recordFields, timestamp } from '../scalars.ts'

/** A bearer token for the management API. Only a hash of the token is stored. */
export type AccessToken = z.output<typeof accessTokenCodec>

const fields = {
  id,
  /** The id of the organization; `null` only for the role `platform`. */
  orgId: id.nullable(),
  name,
  role,
  /** The first 11 characters, which help users to recognise a token. */
  prefix: z.string(),
  expiresAt: timestamp.nullable(),
  lastUsedAt: timestamp.nullable(),
  /** The id of the actor that created the token. */
  createdBy: z.string(),
  ...recordFields,
}

/** The codec of `AccessToken`. */
export const accessTokenCodec = record(fields)

/** The response to `createAccessToken`. `token` is `null` in the response to a repeated request. */
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
