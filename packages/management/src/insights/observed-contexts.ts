import { endpoints, type ObservedContext, type PageOf } from '@ff/protocol/management'
import { sha256 } from '@ff/server/plane'
import type { ListQuery, Records } from '@ff/storage'
import { loadPermitted } from '../access/access-request.ts'
import { loadInstallation, loadOrganizationPath } from '../access/organization-paths.ts'
import { loadEnvironmentById } from '../access/project-paths.ts'
import { changeEvent } from '../audit/change-event.ts'
import { applyChange } from '../changes/apply-change.ts'
import type { Management } from '../changes/management.ts'
import type { Input } from '../requests/input.ts'
import { toPage } from '../requests/pages.ts'

type Query = Input<'listObservedContexts', 'query'>['query']
type Where = Partial<Records['observedContext']>

const DEFAULT_LIMIT = 20

/**
 * One page of the contexts that were evaluated, those seen last first: of one environment, else of
 * the actor's organization, to `platform` of all.
 */
export async function listObservedContexts(
  management: Management,
  { query }: Input<'listObservedContexts', 'query'>,
): Promise<PageOf<ObservedContext>> {
  const { kind, success, page = 1, limit = DEFAULT_LIMIT } = query
  const where: Where = {
    ...(await placeOf(management, query)),
    ...(kind !== undefined && { kind }),
    ...(success !== undefined && { evaluationSuccess: success }),
  }
  const found = await management.storage.list('observedContext', {
    where,
    range: rangeOf(query),
    sort: { field: 'lastSeen', direction: 'desc' },
    page,
    limit,
  })
  return toPage(found, { page, limit })
}

/**
 * Permanently deletes every observed context of a user's key in an environment. Another instance
 * may still write contexts that it observed within the last seconds.
 */
export async function forgetObservedContexts(
  management: Management,
  { query }: Input<'forgetObservedContexts', 'query'>,
): Promise<null> {
  const { permission } = endpoints.forgetObservedContexts
  const { environmentId, key } = query
  const request = { permission, load: loadEnvironmentById, params: { environmentId } }
  return applyChange(management, request, async (writer, { environment: { id } }) => {
    const contexts = await writer.forgetContexts({ environmentId: id, key })
    const before = { keyHash: await sha256(`${id}:${key}`), contexts }
    const event = changeEvent('observed_context.forgotten', id, { before, after: null })
    return { event, result: null }
  })
}

async function placeOf(management: Management, { environmentId }: Query): Promise<Where> {
  const { permission } = endpoints.listObservedContexts
  const { actor } = management
  if (environmentId !== undefined) {
    const request = { permission, load: loadEnvironmentById, params: { environmentId } }
    return { environmentId: (await loadPermitted(management, request)).environment.id }
  }
  if (actor.role === 'platform') {
    await loadPermitted(management, { permission, load: loadInstallation, params: {} })
    return {}
  }
  const params = { orgId: actor.orgId ?? '' }
  const request = { permission, load: loadOrganizationPath, params }
  return { orgId: (await loadPermitted(management, request)).organization.id }
}

function rangeOf({ from, to }: Query): NonNullable<ListQuery<'observedContext'>['range']> {
  return {
    field: 'lastSeen',
    ...(from !== undefined && { from }),
    // No timestamp sorts between one and the same with a `~`, so the range includes the last one.
    ...(to !== undefined && { to: `${to}~` }),
  }
}
