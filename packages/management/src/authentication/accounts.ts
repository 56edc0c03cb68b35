import type { LoginSession, Records, StorageSession } from '@ff/storage'
import type { Actor } from '../access/actors.ts'

/** A user and their memberships. */
export interface Account {
  readonly user: Records['user']
  /** The memberships, oldest first. */
  readonly memberships: readonly Records['member'][]
}

/**
 * Returns an account with the memberships that the log-in method proves; `undefined` if the user
 * does not exist. An administrator that adds an e-mail address receives the one-time link and could
 * set the first password. Therefore, a password proves only the memberships that were accepted with
 * their own links. An identity provider proves the e-mail address, and therefore all memberships.
 */
export async function findAccount(
  reader: Pick<StorageSession, 'list'>,
  where: { readonly id: string } | { readonly email: string },
  method: LoginSession['method'],
): Promise<Account | undefined> {
  const user = (await reader.list('user', { where, limit: 1 })).data[0]
  // Runs also without a user, so that the response time does not reveal unknown addresses.
  const memberships = await reader.list('member', {
    where: { userId: user?.id ?? '' },
    sort: { field: 'createdAt', direction: 'asc' },
  })
  if (user === undefined) return undefined
  const isProven = method === 'oidc'
  return {
    user,
    memberships: memberships.data.filter(({ acceptedAt }) => isProven || acceptedAt !== null),
  }
}

/**
 * Returns `true` if one of the memberships is living. No other transaction ends this membership
 * before the transaction has ended.
 */
export async function isStillMember(
  transaction: Pick<StorageSession, 'hold'>,
  memberships: readonly Records['member'][],
): Promise<boolean> {
  for (const { id } of memberships) {
    if ((await transaction.hold('member', id)) !== undefined) return true
  }
  return false
}

/**
 * Returns the actor of an account in an organization, by default in the organization of the oldest
 * membership; `undefined` if there is no such membership. An actor with the role `platform` has no
 * organization; `orgId` only determines where its project keys are looked up.
 */
export function actorOf({ user, memberships }: Account, orgId?: string): Actor | undefined {
  const { id, email } = user
  const source = 'user'
  if (user.role === 'platform')
    return { id, email, name: user.name, role: user.role, orgId: null, keyOrgId: orgId, source }
  const member = memberships.find((each) => orgId === undefined || each.orgId === orgId)
  if (member === undefined) return undefined
  const { name, role } = member
  const isUnclear = orgId === undefined && memberships.length > 1
  const keyOrgId = isUnclear ? null : member.orgId
  return { id, email, name, role, orgId: member.orgId, keyOrgId, source }
}
