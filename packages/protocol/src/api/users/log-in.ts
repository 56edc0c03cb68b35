import * as z from 'zod'
import { creating, reading } from '../endpoint.ts'
import { record } from '../record.ts'
import { memberRole, role } from '../roles.ts'
import { id, name, text, timestamp } from '../scalars.ts'

/** The credentials of a log-in; `email` does not have to be a valid address. */
export type NewLogIn = z.output<typeof newLogInCodec>

/** The codec of `NewLogIn`. */
export const newLogInCodec = record({
  email: text(256).min(1).toLowerCase(),
  password: text(1024).min(1),
})

/**
 * The authenticated caller, which is a user, an access token or a user of the host application, with
 * its role and memberships.
 */
export type LogIn = z.output<typeof logInCodec>

/** The codec of `LogIn`. */
export const logInCodec = record({
  user: record({
    /** The id of the user or of the access token, or the id that the host has chosen. */
    id: z.string(),
    /** The e-mail address of the user; empty for an access token. */
    email: z.string(),
    name: z.string(),
    /**
     * The role in the organization that the header `X-FF-Organization` selects. The default is the
     * organization of the oldest membership.
     */
    role,
    /** The id of the selected organization; `null` only for the role `platform`. */
    orgId: id.nullable(),
  }),
  /** The memberships of a user, oldest first; empty without a log-in session of this server. */
  memberships: z.array(record({ orgId: id, name, role: memberRole })),
  /**
   * The value that the header `X-CSRF-Token` must have in all requests of the log-in session that
   * change something; `null` without such a session.
   */
  csrfToken: z.string().nullable(),
  /** The time when the log-in session ends, even if it is in use; `null` without such a session. */
  expiresAt: timestamp.nullable(),
})

/**
 * The body of `changePassword`: exactly two of the three fields. A `newPassword` requires either
 * `oldPassword` or the `token` of a one-time link, which then also opens a session. A `token` with
 * `oldPassword` accepts a membership and keeps the password.
 */
export type PasswordChange = z.output<typeof passwordChangeCodec>

const password = text(1024).min(1).optional()

/** The codec of `PasswordChange`. */
export const passwordChangeCodec = record({
  /** The token of a one-time link. */
  token: text(128).min(1).optional(),
  oldPassword: password,
  newPassword: password,
})

/** The methods with which users can log in. */
export type LogInMethods = z.output<typeof logInMethodsCodec>

/** The codec of `LogInMethods`. */
export const logInMethodsCodec = record({
  /** `true` if users can log in with e-mail address and password. */
  password: z.boolean(),
  /** The identity provider with its display name; `null` if there is none. */
  oidc: record({ name }).nullable(),
})

const ATTEMPT_NOTES =
  'Failed attempts are limited per account and network, per network, and per account. A browser ' +
  'with a device cookie of the account has a separate limit.'

/** The endpoints of log-ins. */
export const logInEndpoints = {
  logIn: creating('/auth/login', {
    permission: 'anyone',
    status: 200,
    body: newLogInCodec,
    notes: ATTEMPT_NOTES,
    response: logInCodec,
  }),
  getLogInMethods: reading('/auth/methods', { permission: 'anyone', response: logInMethodsCodec }),
  logOut: creating('/auth/logout', { permission: 'oneself', status: 200, response: z.null() }),
  getLogIn: reading('/auth/me', { permission: 'oneself', response: logInCodec }),
  changePassword: creating('/auth/password', {
    permission: 'anyone',
    status: 200,
    body: passwordChangeCodec,
    notes: `A new password by a one-time link also opens a session. ${ATTEMPT_NOTES}`,
    response: z.null(),
  }),
}
