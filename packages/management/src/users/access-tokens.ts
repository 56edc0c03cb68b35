import type { NewAccessToken } from '@ff/protocol/management'
import { hashSecret } from '@ff/server/plane'
import { ACCESS_TOKEN_PREFIX } from '../access/actors.ts'
import { assertRoleWithin } from '../access/permissions.ts'
import { completed } from '../changes/change-event.ts'
import { defineChange, defineUseCases } from '../changes/use-case.ts'
import { listPage } from '../requests/pages.ts'
import { assertInFuture, invalid } from '../requests/validation.ts'
import type { IssuedCredentials } from '../secrets/issued-credentials.ts'

/** The number of leading characters of a secret that are stored in plain text to identify it. */
export const SECRET_PREFIX_LENGTH = 11

/** The input of `createAccessToken`. */
export interface CreateAccessTokenInput {
  /** The organization of the token; `null` for a token with the role `platform`. */
  readonly params: { readonly orgId: string | null }
  readonly body: NewAccessToken
  /**
   * The token to use, 16 to 512 visible ASCII characters; by default, a random token is created.
   */
  readonly token?: string
}

const CHOSEN_TOKEN = /^[\x21-\x7e]{16,512}$/

/** Creates the use cases of access tokens. */
export function createAccessTokenUseCases(issued: IssuedCredentials) {
  return {
    ...defineUseCases({
      /** Returns one page of an organization's access tokens, sorted by name, without the secrets. */
      listAccessTokens: ({ storage, organization: { id: orgId }, query }) =>
        listPage(storage, 'accessToken', { where: { orgId }, sortBy: 'name', query }),

      /**
       * Deletes an access token, which becomes invalid immediately. Throws `FORBIDDEN` if its role is
       * higher than the actor's.
       */
      async deleteAccessToken({ writer, token, expectedRevision, actor }) {
        assertRoleWithin(token.role, actor)
        await writer.remove('accessToken', token, expectedRevision)
        return completed('token.deleted', { before: token })
      },
    }),

    /**
     * Creates an access token. Only this response contains the secret, as `token`. Throws `FORBIDDEN`
     * if the role is higher than the actor's.
     */
    createAccessToken: defineChange('createAccessToken', {
      load: ({ params: { orgId } }: CreateAccessTokenInput) => (orgId === null ? {} : { orgId }),
      async run({ writer, params, body, token: chosen, actor }) {
        const token = chosen ?? (await issued.issue(ACCESS_TOKEN_PREFIX))
        if (!CHOSEN_TOKEN.test(token)) {
          throw invalid('token', 'must be 16 to 512 visible ASCII characters')
        }
        if ((body.role === 'platform') !== (params.orgId === null)) {
          const message =
            'must be owner, admin, editor or viewer in an organization, otherwise platform'
          throw invalid('role', message)
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
}
