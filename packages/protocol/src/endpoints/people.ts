import * as z from 'zod'
import { logInCodec, newLogInCodec, passwordChangeCodec } from '../resources/log-in.ts'
import { type Endpoint, noBody, noParams, noQuery } from './endpoint.ts'

const ours = { params: noParams, query: noQuery, status: 200 } as const

const ATTEMPT_NOTES =
  'Failed attempts are limited for each account and network, each network and each account; a ' +
  'device that is known for the account by its cookie has a limit of its own.'

export const peopleEndpoints = {
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
