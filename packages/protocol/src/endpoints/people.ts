import * as z from 'zod'
import { logInCodec, newLogInCodec, passwordChangeCodec } from '../resources/log-in.ts'
import { type Endpoint, noBody, noParams, noQuery } from './endpoint.ts'

const ours = { params: noParams, query: noQuery, status: 200 } as const

export const peopleEndpoints = {
  logIn: {
    ...ours,
    method: 'POST',
    permission: 'anyone',
    path: '/auth/login',
    body: newLogInCodec,
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
    response: z.null(),
  },
} as const satisfies Record<string, Endpoint>
