import * as z from 'zod'
import { endpointsLike, noBody, noQuery } from '../endpoint.ts'
import { record } from '../record.ts'
import { text } from '../scalars.ts'

/** A pattern for paths on the same server that no browser interprets as another origin. */
export const OWN_PATH = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]{0,511}$/

/** Returns an endpoint that responds to a browser with a redirect. */
const redirecting = endpointsLike({
  method: 'GET',
  permission: 'anyone',
  query: noQuery,
  body: noBody,
  status: 302,
  response: z.null(),
})

const ownPath = text(512).regex(OWN_PATH, 'must be a path on this server, such as /docs')
const answered = text(4096).optional()

/** The endpoints of OpenID Connect. */
export const oidcEndpoints = {
  /** Redirects to the identity provider. After the log-in, the browser is sent to `return_to`. */
  startOidcLogIn: redirecting('/auth/oidc/start', {
    query: record({ returnTo: ownPath.optional() }),
  }),
  /** The URL to which the identity provider redirects. The provider can add unknown parameters. */
  finishOidcLogIn: redirecting('/auth/oidc/callback', {
    query: z.object({
      code: answered,
      state: answered,
      iss: answered,
      error: z
        .string()
        .regex(/^[\w.-]{1,128}$/, 'must be an OAuth error code')
        .optional(),
    }),
  }),
}
