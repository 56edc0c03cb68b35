import * as z from 'zod'
import { endpointsLike, noBody, noQuery } from '../endpoint.ts'
import { record } from '../record.ts'
import { text } from '../scalars.ts'

/** A path of the same server that no browser interprets as another origin. */
export const OWN_PATH = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]{0,511}$/

/** Both endpoints are opened by a browser and redirect it. */
const redirecting = endpointsLike({
  method: 'GET',
  permission: 'anyone',
  query: noQuery,
  body: noBody,
  status: 302,
  response: z.null(),
})

const ownPath = text(512).regex(OWN_PATH, 'must be a path of this server, such as /docs')
const answered = text(4096).optional()

/** The endpoints of OpenID Connect. */
export const oidcEndpoints = {
  /** Sends the browser to the identity provider; `return_to` is where it ends up, logged in. */
  startOidcLogIn: redirecting('/auth/oidc/start', {
    query: record({ returnTo: ownPath.optional() }),
  }),
  /** Where the provider sends the browser back to. It may add other parameters. */
  finishOidcLogIn: redirecting('/auth/oidc/callback', {
    query: z.object({
      code: answered,
      state: answered,
      iss: answered,
      error: z
        .string()
        .regex(/^[\w.-]{1,128}$/, 'must be a code of an error')
        .optional(),
    }),
  }),
}
