import { pageOf } from '../envelope.ts'
import { record } from '../record.ts'
import {
  invitedMemberCodec,
  memberChangesCodec,
  memberCodec,
  newMemberCodec,
} from '../resources/member.ts'
import { id } from '../scalars.ts'
import {
  changing,
  creating,
  deleting,
  type Endpoint,
  inOrganization,
  organizationParams,
  reading,
  searchQuery,
} from './endpoint.ts'
import { ORGANIZATION } from './organizations.ts'

const MEMBERS = `${ORGANIZATION}/members` as const
const memberParams = record({ ...inOrganization, userId: id }, {})
const permission = 'members.write'

export const memberEndpoints = {
  listMembers: {
    ...reading,
    path: MEMBERS,
    params: organizationParams,
    query: searchQuery,
    response: pageOf(memberCodec),
  },
  addMember: {
    ...creating,
    permission,
    path: MEMBERS,
    params: organizationParams,
    body: newMemberCodec,
    response: invitedMemberCodec,
  },
  updateMember: {
    ...changing,
    permission,
    path: `${MEMBERS}/{userId}`,
    params: memberParams,
    body: memberChangesCodec,
    response: invitedMemberCodec,
  },
  removeMember: { ...deleting, permission, path: `${MEMBERS}/{userId}`, params: memberParams },
} as const satisfies Record<string, Endpoint>
