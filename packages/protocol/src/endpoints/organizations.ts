import { pageOf } from '../envelope.ts'
import {
  newOrganizationCodec,
  organizationChangesCodec,
  organizationCodec,
} from '../resources/organization.ts'
import {
  changing,
  creating,
  deleting,
  type Endpoint,
  noParams,
  noQuery,
  organizationParams,
  reading,
  searchQuery,
} from './endpoint.ts'

const ORGANIZATIONS = '/organizations'
export const ORGANIZATION = `${ORGANIZATIONS}/{orgId}` as const

export const organizationEndpoints = {
  /** The caller's own; for the role `platform`, all. */
  listOrganizations: {
    ...reading,
    path: ORGANIZATIONS,
    params: noParams,
    query: searchQuery,
    response: pageOf(organizationCodec),
  },
  createOrganization: {
    ...creating,
    permission: 'organizations.create',
    path: ORGANIZATIONS,
    params: noParams,
    body: newOrganizationCodec,
    response: organizationCodec,
  },
  getOrganization: {
    ...reading,
    path: ORGANIZATION,
    params: organizationParams,
    query: noQuery,
    response: organizationCodec,
  },
  updateOrganization: {
    ...changing,
    permission: 'organization.write',
    path: ORGANIZATION,
    params: organizationParams,
    body: organizationChangesCodec,
    response: organizationCodec,
  },
  deleteOrganization: {
    ...deleting,
    permission: 'organization.delete',
    path: ORGANIZATION,
    params: organizationParams,
  },
} as const satisfies Record<string, Endpoint>
