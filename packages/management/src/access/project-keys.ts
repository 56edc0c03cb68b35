import { isId } from '@ff/protocol/management'
import type { Records, StorageSession } from '@ff/storage'
import { invalid } from '../requests/validation.ts'
import type { Actor } from './actors.ts'

/** The header with the id of the organization in which the actor of a request acts. */
export const ORGANIZATION_HEADER = 'X-FF-Organization'

/** The id or the key of a project, and the organization of the path, if the path contains one. */
interface ProjectReference {
  readonly projectId?: string
  readonly orgId?: string
}

/**
 * Returns the project with an id or a key that an actor uses; `undefined` if there is none. An
 * actor with the role `platform` finds every project by its id. Keys are looked up in the
 * organization of the path or of the actor, and for the role `platform` in all organizations unless
 * the request has selected one. Throws `INVALID_REQUEST` if the organization is not clear.
 */
export async function findProject(
  session: StorageSession,
  actor: Actor,
  { projectId: text = '', orgId }: ProjectReference,
): Promise<Records['project'] | undefined> {
  const owner = orgId ?? (actor.role === 'platform' ? undefined : actor.orgId)
  const byId = isId(text) ? await session.find('project', text.toLowerCase()) : undefined
  if (byId !== undefined && (owner === undefined || byId.orgId === owner)) return byId
  const where = orgId === undefined ? keyScopeOf(actor, text) : { orgId }
  if (where === undefined) return undefined
  const query = { where: { ...where, key: text }, limit: 2, isCounted: false }
  const [project, another] = (await session.list('project', query)).data
  if (another === undefined) return project
  throw invalid(ORGANIZATION_HEADER, `is required: several organizations have a project "${text}"`)
}

/**
 * Returns the filter of the projects that a key can name; `undefined` if the text can only be an
 * id, because the organization is not clear.
 */
function keyScopeOf(
  { role, orgId, keyOrgId = orgId }: Actor,
  text: string,
): { readonly orgId?: string } | undefined {
  if (keyOrgId !== null) {
    if (role !== 'platform' || isId(keyOrgId)) return { orgId: keyOrgId }
    throw invalid(ORGANIZATION_HEADER, 'must be the id of an organization')
  }
  if (role === 'platform') return {}
  if (isId(text)) return undefined
  throw invalid(
    ORGANIZATION_HEADER,
    'is required with the key of a project, because you have several organizations',
  )
}
