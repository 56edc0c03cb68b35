import { FlagError } from '@ff/core'
import type { AccessToken, NewAccessToken } from '@ff/protocol/management'
import { ACCESS_TOKEN_PREFIX } from '../access/actors.ts'
import { isRoleWithin } from '../access/permissions.ts'
import { hashSecret, newSecret } from '../access/secrets.ts'
import { applyChange, changeEvent } from './apply-change.ts'
import type { Management } from './management.ts'
import { type AnyPath, type LoadPath, loadInstallation, loadOrganizationPath } from './paths.ts'
import { SECRET_PREFIX_LENGTH } from './sdk-keys.ts'
import { invalid } from './validation.ts'

interface CreateAccessTokenInput {
  /** null for a token of the role `platform`. */
  readonly params: { readonly orgId: string | null }
  readonly body: NewAccessToken
  /** A token that an operator has chosen: 16 to 512 visible ASCII characters. */
  readonly token?: string
}

const CHOSEN_TOKEN = /^[\x21-\x7e]{16,512}$/

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
    throw invalid('role', 'is platform exactly when there is no organization')
  }
  const hash = await hashSecret(token)
  const target = { permission: 'tokens.write', load: loadOwner, params } as const
  return applyChange(management, target, async (writer) => {
    const { actor } = management
    if (!isRoleWithin(body.role, actor.role)) {
      throw new FlagError('FORBIDDEN', 'A token cannot have a higher role than its creator.')
    }
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
    return { event, result: { ...record, token } }
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
