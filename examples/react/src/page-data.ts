import type { FlagSnapshot } from '@ff/client'

/** What the server and the browser know about a page. */
export interface PageData {
  /** The key of the user; empty without a signed-in user. */
  readonly user: string
  /** The URL of the flag server. */
  readonly url: string
  readonly sdkKey: string
  readonly snapshot: FlagSnapshot
}

/** Returns the context of a user. */
export function contextOf(user: string): { kind: 'user'; key?: string } {
  return user === '' ? { kind: 'user' } : { kind: 'user', key: user }
}
