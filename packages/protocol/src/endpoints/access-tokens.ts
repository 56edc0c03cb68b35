import { pageOf } from '../envelope.ts'
import { record } from '../record.ts'
import {
  accessTokenCodec,
  issuedAccessTokenCodec,
  newAccessTokenCodec,
} from '../resources/access-token.ts'
import { id } from '../scalars.ts'
import {
  creating,
  deleting,
  type Endpoint,
  inOrganization,
  organizationParams,
  reading,
  searchQuery,
} from './endpoint.ts'
import { ORGANIZATION } from './organizations.ts'

const TOKENS = `${ORGANIZATION}/tokens` as const
const permission = 'tokens.write'

export const accessTokenEndpoints = {
  listAccessTokens: {
    ...reading,
    path: TOKENS,
    params: organizationParams,
    query: searchQuery,
    response: pageOf(accessTokenCodec),
  },
  createAccessToken: {
    ...creating,
    permission,
    path: TOKENS,
    params: organizationParams,
    body: newAccessTokenCodec,
    response: issuedAccessTokenCodec,
  },
  deleteAccessToken: {
    ...deleting,
    permission,
    path: `${TOKENS}/{tokenId}`,
    params: record({ ...inOrganization, tokenId: id }, {}),
  },
} as const satisfies Record<string, Endpoint>
