import * as z from 'zod'
import { type Endpoint, noBody, noQuery } from '../endpoint.ts'
import { noParams } from '../paths.ts'
import { record } from '../record.ts'
import { id, name, text, timestamp } from '../scalars.ts'
import { memberRole, role } from './access-token.ts'

/** What somebody logs in with. What they typed as an address need not be one. */
export type NewLogIn = z.output<typeof newLogInCodec>

export const newLogInCodec = record(
  { email: text(256).min(1).toLowerCase(), password: text(1024).min(1) },
  {},
)

/** Who asks, as what, and what else they could ask as. */
export type LogIn = z.output<typeof logInCodec>

const orgId = { orgId: 'org_id' } as const

export const logInCodec = record(
  {
    user: record(
      {
        /** A user's, or a token's. */
        id: z.string(),
        /** Empty for a token. */
        email: z.string(),
        name: z.string(),
        /** In the organization that is asked for: by `X-FF-Organization`, else the oldest. */
        role,
        /** null only for the role `platform`. */
        orgId: id.nullable(),
      },
      orgId,
    ),
    /** Every organization that could be asked for, the oldest membership first; none of a token. */
    memberships: z.array(record({ orgId: id, name, role: memberRole }, orgId)),
    /** What `X-CSRF-Token` must say in every request that changes something; null for a token. */
    csrfToken: z.string().nullable(),
    /** When the session ends, however much it is used; null for a token. */
    expiresAt: timestamp.nullable(),
  },
  { csrfToken: 'csrf_token', expiresAt: 'expires_at' },
)

/** Exactly two of the three: see `changePassword`. */
export type PasswordChange = z.output<typeof passwordChangeCodec>

const password = text(1024).min(1).optional()

export const passwordChangeCodec = record(
  {
    /** Of a one-time link. */
    token: text(128).min(1).optional(),
    oldPassword: password,
    newPassword: password,
  },
  { oldPassword: 'old_password', newPassword: 'new_password' },
)

const ours = { params: noParams, query: noQuery, status: 200 } as const

const ATTEMPT_NOTES =
  'Failed attempts are limited for each account and network, each network and each account; a ' +
  'device that is known for the account by its cookie has a limit of its own.'

export const logInEndpoints = {
  logIn: {
    ...ours,
    method: 'POST',
    permission: 'anyone',
    path: '/auth/login',
    body: newLogInCodec,
    notes: ATTEMPT_NOTES,
    response: logInCodec,
  },
  logOut: {
    ...ours,
    method: 'POST',
    permission: 'oneself',
    path: '/auth/logout',
    body: noBody,
    response: z.null(),
  },
  getLogIn: {
    ...ours,
    method: 'GET',
    permission: 'oneself',
    path: '/auth/me',
    body: noBody,
    response: logInCodec,
  },
  changePassword: {
    ...ours,
    method: 'POST',
    permission: 'anyone',
    path: '/auth/password',
    body: passwordChangeCodec,
    notes: ATTEMPT_NOTES,
    response: z.null(),
  },
} as const satisfies Record<string, Endpoint>
