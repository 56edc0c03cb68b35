import type { LoginSession, Records, StorageSession } from '@ff/storage'
import type { Actor } from '../access/actors.ts'

/** Somebody known, and where they are at home. */
export interface Account {
  readonly user: Records['user']
  /** The oldest first. */
  readonly memberships: readonly Records['member'][]
}

/**
 * A person as far as their way to log in proves who they are. Whoever adds an address to an
 * organization learns its one-time link, and could set its first password: so a password opens
 * only memberships that were accepted by their own link. An identity provider vouches for the
 * address, and so for all of them.
 */
export async function findAccount(
  reader: Pick<StorageSession, 'list'>,
  where: { readonly id: string } | { readonly email: string },
  method: LoginSession['method'],
): Promise<Account | undefined> {
  const user = (await reader.list('user', { where, limit: 1 })).data[0]
  // Also asked of nobody: an unknown address must not be answered sooner.
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
 * A person as an actor: in one organization, or, if none is asked for, in the oldest that they
 * are a member of. `undefined` when they are not; an administrator acts for the platform always.
 */
export function actorOf({ user, memberships }: Account, orgId?: string): Actor | undefined {
  const { id, email } = user
  const source = 'user'
  if (user.role === 'platform')
    return { id, email, name: user.name, role: user.role, orgId: null, source }
  const member = memberships.find((each) => orgId === undefined || each.orgId === orgId)
  return member && { id, email, name: member.name, role: member.role, orgId: member.orgId, source }
}
