import { createHash, timingSafeEqual } from 'node:crypto'
import type { Actor, AuthenticateBearer } from '@ff/management'

/** The actor for the token of `FF_ADMIN_TOKEN` and for the creation of the demo. */
export const ADMINISTRATOR: Actor = {
  id: 'administrator',
  email: '',
  name: 'Administrator',
  role: 'platform',
  orgId: null,
}

/** Returns an authenticator that accepts `adminToken` and passes other tokens to `next`. */
export function orAdministrator(
  adminToken: string | undefined,
  next: AuthenticateBearer,
): AuthenticateBearer {
  if (adminToken === undefined) return next
  const expected = sha256(adminToken)
  return async (token, request) =>
    timingSafeEqual(sha256(token), expected) ? ADMINISTRATOR : next(token, request)
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
