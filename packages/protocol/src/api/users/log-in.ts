import * as z from 'zod'
import { creating, reading } from '../endpoint.ts'
import { record } from '../record.ts'
import { memberRole, role } from '../roles.ts'
import { id, name, text, timestamp } from '../scalars.ts'

/** The credentials of a log-in; `email` need not be a valid address. */
export type NewLogIn = z.output<typeof newLogInCodec>

/** The codec of `NewLogIn`. */
export const newLogInCodec = record({
  email: text(256).min(1).toLowerCase(),
  password: text(1024).min(1),
})

/** The caller: user or token, role and memberships. */
export type LogIn = z.output<typeof logInCodec>

/** The codec of `LogIn`. */
export const logInCodec = record({
  user: record({
    /** A user's, or a token's. */
    id: z.string(),
    /** Empty for a token. */
    email: z.string(),
    name: z.string(),
    /** In the organization that `X-FF-Organization` names, else that of the oldest membership. */
    role,
    /** null only for the role `platform`. */
    orgId: id.nullable(),
  }),
  /** The values of `X-FF-Organization`, the oldest membership first; empty for a token. */
  memberships: z.array(record({ orgId: id, name, role: memberRole })),
  /** The value of `X-CSRF-Token` that every changing request needs; null for a token. */
  csrfToken: z.string().nullable(),
  /** The end of the session, regardless of its use; null for a token. */
  expiresAt: timestamp.nullable(),
})

/** Exactly two of the three fields are set; see `changePassword`. */
export type PasswordChange = z.output<typeof passwordChangeCodec>

const password = text(1024).min(1).optional()

/** The codec of `PasswordChange`. */
export const passwordChangeCodec = record({
  /** Of a one-time link. */
  token: text(128).min(1).optional(),
  oldPassword: password,
  newPassword: password,
})

const ATTEMPT_NOTES =
  'Failed attempts are limited for each account and network, each network and each account; a ' +
  'device that is known for the account by its cookie has a limit of its own.'

/** The endpoints of log-ins. */
export const logInEndpoints = {
  logIn: creating('/auth/login', {
    permission: 'anyone',
    status: 200,
    body: newLogInCodec,
    notes: ATTEMPT_NOTES,
    response: logInCodec,
  }),
  logOut: creating('/auth/logout', { permission: 'oneself', status: 200, response: z.null() }),
  getLogIn: reading('/auth/me', { permission: 'oneself', response: logInCodec }),
  changePassword: creating('/auth/password', {
    permission: 'anyone',
    status: 200,
    body: passwordChangeCodec,
    notes: ATTEMPT_NOTES,
    response: z.null(),
  }),
}
