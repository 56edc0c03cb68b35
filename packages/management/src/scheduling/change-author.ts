import { FlagError } from '@ff/core'
import type { Role, ScheduledChange } from '@ff/protocol/management'
import { type Clock, timestampAt } from '@ff/server/plane'
import type { Storage } from '@ff/storage'
import type { Actor, FindActor } from '../access/actors.ts'
import { actorOf, findAccount } from '../authentication/accounts.ts'

interface AuthorServices {
  readonly storage: Storage
  readonly clock: Clock
  /** Looks up actors of the host application; `undefined` if the host does not provide it. */
  readonly findActor: FindActor | undefined
}

/**
 * Returns the author of a scheduled change with their present role. Throws `FORBIDDEN` if the
 * author's token or membership has ended. Actors of the host application keep the role that they
 * had when they scheduled the change, unless the host provides `findActor`.
 */
export async function presentAuthor(
  services: AuthorServices,
  { createdBy, projectId }: ScheduledChange,
): Promise<Actor> {
  const { storage, findActor } = services
  const { source, ...author } = createdBy
  const orgId = (await storage.find('project', projectId))?.orgId ?? null
  const recorded: Actor = {
    ...author,
    role: author.role as Role,
    orgId: author.role === 'platform' ? null : orgId,
  }
  switch (source ?? (await sourceOf(services, author.id))) {
    case 'token':
      return present(await findTokenActor(services, recorded), 'access token', recorded)
    case 'user':
      return present(await findUserActor(services, author.id, orgId), 'membership', recorded)
    case 'host':
      return findActor === undefined
        ? recorded
        : present(await findActor(author.id), 'access', recorded)
  }
}

/** For changes that were scheduled before the source of their author was recorded. */
async function sourceOf(
  { storage }: AuthorServices,
  id: string,
): Promise<'token' | 'user' | 'host'> {
  if ((await storage.find('accessToken', id)) !== undefined) return 'token'
  return (await storage.find('user', id)) === undefined ? 'host' : 'user'
}

async function findTokenActor(
  { storage, clock }: AuthorServices,
  { id, email }: Actor,
): Promise<Actor | undefined> {
  const token = await storage.find('accessToken', id)
  if (token === undefined) return undefined
  if (token.expiresAt !== null && token.expiresAt <= timestampAt(clock)) return undefined
  return { id, email, name: token.name, role: token.role, orgId: token.orgId }
}

async function findUserActor(
  { storage }: AuthorServices,
  id: string,
  orgId: string | null,
): Promise<Actor | undefined> {
  // How the author logged in does not matter here: what counts is the membership.
  const account = await findAccount(storage, { id }, 'oidc')
  return account && actorOf(account, orgId ?? '')
}

function present(actor: Actor | undefined, right: string, { name }: Actor): Actor {
  if (actor !== undefined) return actor
  throw new FlagError('FORBIDDEN', `The ${right} of the author, "${name}", has ended.`)
}
