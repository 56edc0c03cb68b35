import {
  type AccessToken,
  endpoints,
  type NewAccessToken,
  type PageOf,
} from '@ff/protocol/management'
import { hashSecret, newSecret } from '@ff/server/plane'
import { type AnyPath, type LoadPath, loadPermitted } from '../access/access-request.ts'
import { ACCESS_TOKEN_PREFIX } from '../access/actors.ts'
import {
  loadAccessTokenPath,
  loadInstallation,
  loadOrganizationPath,
} from '../access/organization-paths.ts'
import { assertRoleWithin } from '../access/permissions.ts'
import { changeEvent } from '../audit/change-event.ts'
import { applyChange } from '../changes/apply-change.ts'
import type { Management } from '../changes/management.ts'
import type { Input } from '../requests/input.ts'
import { pagingOf, toPage } from '../requests/pages.ts'
import { assertInFuture, invalid } from '../requests/validation.ts'

/** How much of a secret is kept to recognise it by. */
export const SECRET_PREFIX_LENGTH = 11

interface CreateAccessTokenInput {
  /** null for a token of the role `platform`. */
  readonly params: { readonly orgId: string | null }
  readonly body: NewAccessToken
  /** A token that an operator has chosen: 16 to 512 visible ASCII characters. */
  readonly token?: string
}

const CHOSEN_TOKEN = /^[\x21-\x7e]{16,512}$/

/** One page of an organization's tokens, by name; never the tokens themselves. */
export async function listAccessTokens(
  management: Management,
  { params, query }: Input<'listAccessTokens', 'params' | 'query'>,
): Promise<PageOf<AccessToken>> {
  const { permission } = endpoints.listAccessTokens
  const request = { permission, load: loadOrganizationPath, params }
  const { organization } = await loadPermitted(management, request)
  const { search } = query
  const found = await management.storage.list('accessToken', {
    where: { orgId: organization.id },
    ...(search !== undefined && { search }),
    sort: { field: 'name', direction: 'asc' },
    ...pagingOf(query),
  })
  return toPage(found, query)
}

/**
 * A new bearer token, of no higher role than the actor's own. `token` is shown in this answer
 * and never again.
 */
export async function createAccessToken(
  management: Management,
  { params, body, token = newSecret(ACCESS_TOKEN_PREFIX) }: CreateAccessTokenInput,
): Promise<AccessToken & { readonly token: string }> {
  if (!CHOSEN_TOKEN.test(token)) {
    throw invalid('token', 'must be 16 to 512 visible ASCII characters')
  }
  if ((body.role === 'platform') !== (params.orgId === null)) {
    throw invalid('role', 'must be a role of an organization: owner, admin, editor or viewer')
  }
  const hash = await hashSecret(token)
  const { permission } = endpoints.createAccessToken
  const request = { permission, load: loadOwner, params }
  return applyChange(management, request, async (writer) => {
    const { actor } = management
    assertRoleWithin(body.role, actor)
    assertInFuture('expires_at', body.expiresAt, writer.now)
    const { hash: _, ...record } = await writer.insert('accessToken', {
      orgId: params.orgId,
      name: body.name,
      role: body.role,
      prefix: token.slice(0, Math.min(SECRET_PREFIX_LENGTH, token.length / 4)),
      expiresAt: body.expiresAt ?? null,
      lastUsedAt: null,
      createdBy: actor.id,
      hash,
    })
    const event = changeEvent('token.created', record.id, { before: null, after: record })
    return { event, result: { ...record, token }, shownOnce: 'token' }
  })
}

/** Ends a token, of no higher role than the actor's own, at once. */
export async function deleteAccessToken(
  management: Management,
  { params, expectedRevision }: Input<'deleteAccessToken', 'params' | 'expectedRevision'>,
): Promise<null> {
  const { permission } = endpoints.deleteAccessToken
  const request = { permission, load: loadAccessTokenPath, params }
  return applyChange(management, request, async (writer, { token }) => {
    assertRoleWithin(token.role, management.actor)
    writer.assertRevision('accessToken', token, expectedRevision)
    await writer.remove('accessToken', token)
    const event = changeEvent('token.deleted', token.id, { before: token, after: null })
    return { event, result: null }
  })
}

const loadOwner: LoadPath<CreateAccessTokenInput['params'], AnyPath> = (
  session,
  access,
  params,
) => {
  const { orgId } = params
  return orgId === null
    ? loadInstallation(session, access, params)
    : loadOrganizationPath(session, access, { orgId })
}
