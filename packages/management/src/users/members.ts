import { FlagError, isFlagError } from '@ff/core'
import type { Member, NewMember } from '@ff/protocol/management'
import { hashSecret, newSecret } from '@ff/server/plane'
import type { Records } from '@ff/storage'
import { assertRoleWithin } from '../access/permissions.ts'
import { isStillMember } from '../authentication/accounts.ts'
import { completed } from '../changes/change-event.ts'
import type { Reader, RecordWriter } from '../changes/record-writer.ts'
import { defineUseCases } from '../changes/use-case.ts'
import { listPage } from '../requests/pages.ts'

const LINK_PREFIX = 'ffl_'
const LINK_LIFETIME_MS = 7 * 24 * 60 * 60_000

/** The use cases of members. */
export const memberUseCases = defineUseCases({
  /** Returns one page of an organization's members, sorted by e-mail address. */
  listMembers: ({ storage, organization: { id: orgId }, query }) =>
    listPage(storage, 'member', { where: { orgId }, sortBy: 'email', query }),

  /**
   * Adds a member. Only this response contains `oneTimeLink`, with which the user accepts the
   * membership and sets a first password. Throws `FORBIDDEN` if the role is higher than the
   * actor's.
   */
  async addMember({ writer, organization, body, actor }) {
    const { link: oneTimeLink, ...link } = await newLink(writer.now)
    assertRoleWithin(body.role, actor)
    const user = await findOrInsertUser(writer, body)
    const where = { orgId: organization.id, userId: user.id }
    if ((await writer.reader.list('member', { where, limit: 1 })).total > 0) throw alreadyMember()
    const member = await writer.insert('member', {
      ...where,
      email: user.email,
      name: body.name ?? user.email,
      role: body.role,
      acceptedAt: null,
      ...link,
    })
    const result = { ...member, oneTimeLink }
    return completed('member.added', { after: member }, { result, shownOnce: 'oneTimeLink' })
  },

  /**
   * Changes the name or role of a member, or creates a new one-time link if the link was lost or
   * the password was forgotten. Throws `FORBIDDEN` if the old or the new role is higher than the
   * actor's, and `CONFLICT` if the organization would have no owner.
   */
  async updateMember({ writer, member, body, expectedRevision, actor }) {
    const { newLink: isInvited = false, ...fields } = body
    const { link, ...linkFields } = await newLink(writer.now)
    assertRoleWithin(member.role, actor)
    const after = await writer.update(
      'member',
      member,
      { ...fields, ...(isInvited && linkFields) },
      expectedRevision,
    )
    assertRoleWithin(after.role, actor)
    if (after.role !== 'owner') await assertOtherOwner(writer.reader, member)
    const type = isInvited ? 'member.invited' : 'member.updated'
    const result = { ...after, oneTimeLink: isInvited ? link : null }
    return completed(type, { before: member, after }, { result })
  },

  /**
   * Removes a member. Throws `FORBIDDEN` if the member's role is higher than the actor's, and
   * `CONFLICT` if the organization would have no owner.
   */
  async removeMember({ writer, member, expectedRevision, actor }) {
    assertRoleWithin(member.role, actor)
    await writer.remove('member', member, expectedRevision)
    await assertOtherOwner(writer.reader, member)
    await endSessionsIfHomeless(writer, member)
    return completed('member.removed', { before: member })
  },
})

/**
 * Ends the sessions of a user without memberships and unlinks the user's identities, because the
 * e-mail address could belong to another person when it is added again.
 */
export async function endSessionsIfHomeless(
  writer: RecordWriter,
  { userId }: Pick<Member, 'userId'>,
): Promise<void> {
  const { data: memberships } = await writer.reader.list('member', { where: { userId } })
  const user = await writer.reader.find('user', userId)
  if (user?.role === 'platform' || (await isStillMember(writer, memberships))) return
  await writer.endSessions(userId)
  await writer.unlinkIdentities(userId)
}

/** Creates a one-time link and the fields of the link that are stored. */
async function newLink(now: string) {
  const link = newSecret(LINK_PREFIX)
  return {
    link,
    linkHash: await hashSecret(link),
    linkExpiresAt: new Date(Date.parse(now) + LINK_LIFETIME_MS).toISOString(),
  }
}

/**
 * Returns the user with an e-mail address. Inserts the user if necessary, even if another
 * organization inserts the same user concurrently.
 */
async function findOrInsertUser(
  writer: RecordWriter,
  { email, name = email }: NewMember,
): Promise<Records['user']> {
  const known = await findUser(writer.reader, email)
  if (known !== undefined) return known
  try {
    return await writer.insert('user', { email, name, passwordHash: null, role: null })
  } catch (error) {
    const added = await findUser(writer.reader, email)
    if (added === undefined || !isFlagError(error)) throw error
    return added
  }
}

async function findUser(reader: Reader, email: string): Promise<Records['user'] | undefined> {
  return (await reader.list('user', { where: { email }, limit: 1 })).data[0]
}

/** Throws `CONFLICT` if the member was the last owner of the organization. */
async function assertOtherOwner(reader: Reader, { orgId, role }: Member): Promise<void> {
  if (role !== 'owner') return
  const owners = await reader.list('member', { where: { orgId, role }, limit: 1 })
  if (owners.total === 0) {
    throw new FlagError(
      'CONFLICT',
      'An organization needs an owner. Make another member an owner first.',
    )
  }
}

function alreadyMember(): FlagError {
  const issues = [{ path: 'email', message: 'is already a member' }]
  return new FlagError('CONFLICT', 'email: is already a member', { details: { issues } })
}
