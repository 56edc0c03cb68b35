import type { FlagClientOf } from '@ff/client'
import { createLocalClient } from '@ff/client/node'
import { shopFlags } from './flags.ts'

/** The flags of one request. */
export type ShopFlags = FlagClientOf<typeof shopFlags>

/** Creates the client of an application. It evaluates flags in the process. */
export function createShopClient(server: { readonly url: string; readonly sdkKey: string }) {
  const { url, sdkKey } = server
  return createLocalClient({ url, sdkKey, flags: shopFlags, onError: console.error })
}

/** The client of an application. */
export type ShopClient = ReturnType<typeof createShopClient>

/** Returns the context of a request: its user, as a session would contain it. */
export function contextOf(request: { readonly headers: object }) {
  const headers = new Headers(request.headers as Record<string, string>)
  return { kind: 'user', key: headers.get('x-user') ?? '', plan: headers.get('x-plan') ?? 'free' }
}
