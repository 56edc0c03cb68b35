import * as z from 'zod'
import { changing, creating, deleting, reading, searchQuery } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { ORGANIZATION } from '../paths.ts'
import { record } from '../record.ts'
import { memberRole } from '../roles.ts'
import { email, id, name, recordFields } from '../scalars.ts'

/** A user account, which may belong to several organizations. */
export type User = z.output<typeof userCodec>

/** In lower case, so that one address is one user. */
const userEmail = email.toLowerCase()

/** The codec of `User`. */
export const userCodec = record({ id, email: userEmail, name, ...recordFields })

/** A user in an organization. */
export type Member = z.output<typeof memberCodec>

const fields = {
  id,
  userId: id,
  orgId: id,
  email: userEmail,
  /** The user's name in this organization. */
  name,
  role: memberRole,
  ...recordFields,
}

/** The codec of `Member`. */
export const memberCodec = record(fields)

/** The response to an invitation. The link is null if none was created or the request is repeated. */
export type InvitedMember = z.output<typeof invitedMemberCodec>

/** The codec of `InvitedMember`. */
export const invitedMemberCodec = record({ ...fields, oneTimeLink: z.string().nullable() })

/** The name is the e-mail address unless given. */
export type NewMember = z.output<typeof newMemberCodec>

/** The codec of `NewMember`. */
export const newMemberCodec = record({ email: userEmail, name: name.optional(), role: memberRole })

/** The body of `updateMember`; absent fields stay as they are. */
export type MemberChanges = z.output<typeof memberChangesCodec>

/** The codec of `MemberChanges`. */
export const memberChangesCodec = record({
  name: name.optional(),
  role: memberRole.optional(),
  /** `true` creates a new one-time link and invalidates the previous one. */
  newLink: z.boolean().optional(),
})

const MEMBERS = `${ORGANIZATION}/members` as const
const permission = 'members.write'

/** The endpoints of members. */
export const memberEndpoints = {
  listMembers: reading(MEMBERS, { query: searchQuery, response: pageOf(memberCodec) }),
  addMember: creating(MEMBERS, { permission, body: newMemberCodec, response: invitedMemberCodec }),
  updateMember: changing(`${MEMBERS}/{userId}`, {
    permission,
    body: memberChangesCodec,
    response: invitedMemberCodec,
  }),
  removeMember: deleting(`${MEMBERS}/{userId}`, { permission }),
}
