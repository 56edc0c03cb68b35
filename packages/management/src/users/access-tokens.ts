import type { NewAccessToken } from '@ff/protocol/management'
import { hashSecret, newSecret } from '@ff/server/plane'
import { ACCESS_TOKEN_PREFIX } from '../access/actors.ts'
import { assertRoleWithin } from '../access/permissions.ts'
import { completed } from '../changes/change-event.ts'
import { defineChange, defineUseCases } from '../changes/use-case.ts'
import { listPage } from '../requests/pages.ts'
import { assertInFuture, invalid } from '../requests/validation.ts'

/** How much of a secret is kept to recognise it by. */
export const SECRET_PREFIX_LENGTH = 11

/** The input of `createAccessToken`. */
export interface CreateAccessTokenInput {
  /** null for a token of the role `platform`. */
  readonly params: { readonly orgId: string | null }
  readonly body: NewAccessToken
  /** A token that an operator has chosen: 16 to 512 visible ASCII characters. */
  readonly token?: string
}

const CHOSEN_TOKEN = /^[\x21-\x7e]{16,512}$/

/** The use cases of access tokens. */
export const accessTokenUseCases = {
  ...defineUseCases({
    /** One page of an organization's tokens, by name; never the tokens themselves. */
    listAccessTokens: ({ storage, organization: { id: orgId }, query }) =>
      listPage(storage, 'accessToken', { where: { orgId }, sortBy: 'name', query }),

    /** Ends a token, of no higher role than the actor's own, at once. */
    async deleteAccessToken({ writer, token, expectedRevision, actor }) {
      assertRoleWithin(token.role, actor)
      await writer.remove('accessToken', token, expectedRevision)
      return completed('token.deleted', { before: token })
    },
  }),

  /**
   * A new bearer token, of no higher role than the actor's own. `token` is shown in this answer
   * and never again.
   */
  createAccessToken: defineChange('createAccessToken', {
    load: ({ params: { orgId } }: CreateAccessTokenInput) => (orgId === null ? {} : { orgId }),
    async run({ writer, params, body, token = newSecret(ACCESS_TOKEN_PREFIX), actor }) {
      if (!CHOSEN_TOKEN.test(token)) {
        throw invalid('token', 'must be 16 to 512 visible ASCII characters')
      }
      if ((body.role === 'platform') !== (params.orgId === null)) {
        throw invalid('role', 'must be a role of an organization: owner, admin, editor or viewer')
      }
      const hash = await hashSecret(token)
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
      const result = { ...record, token }
      return completed('token.created', { after: record }, { result, shownOnce: 'token' })
    },
  }),
}
