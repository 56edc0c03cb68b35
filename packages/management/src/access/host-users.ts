import { FlagError, isFlagError } from '@ff/core'
import { ROLE_PERMISSIONS, type Role } from '@ff/protocol/management'
import type { Exchange } from '@ff/server/plane'
import type { Storage } from '@ff/storage'
import * as z from 'zod'
import type { Actor, IdentifyUser } from './actors.ts'
import { notFound } from './permissions.ts'

const ROLES = Object.keys(ROLE_PERMISSIONS) as Role[]
/** One line of text that every store can save. */
const line = z
  .string()
  .max(256)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must not contain control characters')

/** The fields of an actor that are used. Other fields of the host's object are ignored. */
const hostActor = z
  .object({
    id: line.min(1),
    email: line,
    name: line,
    role: z.enum(ROLES),
    orgId: z.guid('must be the id of an organization or null').toLowerCase().nullable(),
  })
  .refine(({ role, orgId }) => (role === 'platform') === (orgId === null), {
    path: ['orgId'],
    message: 'must be null for the role platform and the id of an organization for other roles',
  })

/** The function of the host that identifies users, and the store of their organizations. */
export interface HostUsers {
  readonly identifyUser: IdentifyUser
  readonly storage: Storage
}

/**
 * Returns the user of a session of the host application; `undefined` if the request has none.
 * Throws `INTERNAL` if the function of the host fails or returns something else than an actor,
 * `UNAVAILABLE` if it throws this error, and `NOT_FOUND` if the organization does not exist.
 */
export async function findHostUser(
  { identifyUser, storage }: HostUsers,
  exchange: Exchange,
): Promise<Actor | undefined> {
  const found = await callHost(identifyUser, exchange)
  // Programs in JavaScript also return `null` for a missing user.
  if (found === undefined || found === null) return undefined
  const { data: actor, error } = hostActor.safeParse(found)
  if (actor === undefined) throw hostFailure(new Error(faultOf(error)))
  if (actor.orgId === null) return actor
  if ((await storage.find('organization', actor.orgId)) === undefined)
    throw notFound('organization')
  return actor
}

async function callHost(identifyUser: IdentifyUser, exchange: Exchange): Promise<unknown> {
  try {
    return await identifyUser(exchange)
  } catch (error) {
    if (isFlagError(error) && error.code === 'UNAVAILABLE') throw error
    throw hostFailure(error)
  }
}

/** Creates the error for a failure of the host. Its cause is logged and not sent. */
function hostFailure(cause: unknown): FlagError {
  return new FlagError('INTERNAL', 'The host application failed to identify the user.', { cause })
}

/** Describes the first fault of an actor without its values, because the log must not contain them. */
function faultOf({ issues: [issue] }: z.ZodError): string {
  const field = issue?.path.join('.') || 'the result'
  return `identifyUser must return an actor or undefined: ${field}: ${issue?.message}`
}
