import * as z from 'zod'
import { changing, creating, deleting, reading, searchQuery } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { ORGANIZATION } from '../paths.ts'
import { changesOf, record } from '../record.ts'
import { memberRole } from '../roles.ts'
import { email, id, name, recordFields } from '../scalars.ts'

/** A user account, which can be a member of several organizations. */
export type User = z.output<typeof userCodec>

/** An e-mail address in lower case, because upper and lower case do not distinguish users. */
const userEmail = email.toLowerCase()

/** The codec of `User`. */
export const userCodec = record({ id, email: userEmail, name, ...recordFields })

/** The membership of a user in an organization. */
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

/**
 * A member and the one-time link. The link is `null` if no link was created, and in the response to
 * a repeated request.
 */
export type InvitedMember = z.output<typeof invitedMemberCodec>

/** The codec of `InvitedMember`. */
export const invitedMemberCodec = record({ ...fields, oneTimeLink: z.string().nullable() })

/** The body of `addMember`. `name` defaults to the e-mail address. */
export type NewMember = z.output<typeof newMemberCodec>

/** The codec of `NewMember`. */
export const newMemberCodec = record({ email: userEmail, name: name.optional(), role: memberRole })

/** The body of `updateMember`; absent fields stay unchanged. */
export type MemberChanges = z.output<typeof memberChangesCodec>

/** The codec of `MemberChanges`. */
export const memberChangesCodec = changesOf(fields, {
  name: name.optional(),
  role: memberRole.optional(),
  /** `true` creates a new one-time link and invalidates the previous link. */
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
