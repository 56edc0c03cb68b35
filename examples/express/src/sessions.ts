import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { NextFunction, Request, Response } from 'express'

/** A user of the app. */
export interface AppUser {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly job: 'developer' | 'support' | 'customer'
  /** The id of the organization whose flags the user manages. */
  readonly orgId: string
}

/** A request to the app after `readSession`. */
export interface SessionRequest extends Request {
  /** The logged-in user; absent without a session. */
  user?: AppUser | undefined
}

/** The key that signs the session cookies of this process. */
const KEY = randomBytes(32)
const LIFETIME_MS = 12 * 60 * 60_000

/** Sets `user` of a request with a session cookie that this process has signed. */
export function readSession(request: SessionRequest, _: Response, next: NextFunction): void {
  const cookie = /(?:^|; )app_session=([^;]+)/.exec(request.headers.cookie ?? '')?.[1]
  request.user = cookie === undefined ? undefined : userIn(cookie)
  next()
}

/**
 * Returns the `Set-Cookie` header of a session. `SameSite=Strict` keeps browsers from sending the
 * cookie with requests from other sites, so that these cannot act for the user.
 */
export function sessionCookie(user: AppUser): string {
  const content = { user, endsAt: Date.now() + LIFETIME_MS }
  const text = Buffer.from(JSON.stringify(content)).toString('base64url')
  const value = `${text}.${signatureOf(text)}`
  return `app_session=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${LIFETIME_MS / 1000}`
}

function userIn(cookie: string): AppUser | undefined {
  const [text = '', signature = ''] = cookie.split('.')
  const [given, expected] = [Buffer.from(signature), Buffer.from(signatureOf(text))]
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
  const content = JSON.parse(Buffer.from(text, 'base64url').toString())
  return content.endsAt > Date.now() ? content.user : undefined
}

function signatureOf(text: string): string {
  return createHmac('sha256', KEY).update(text).digest('base64url')
}
