import { type NextRequest, NextResponse } from 'next/server'
import { local, whenReady } from './local-flags.ts'
import { contextOf } from './shop-flags.ts'

// #region proxy
/** Runs before each request, on Node. */
export async function proxy(request: NextRequest): Promise<NextResponse> {
  const user = request.nextUrl.searchParams.get('user') ?? ''
  const headers = new Headers(request.headers)
  headers.set('x-user', user)
  await whenReady
  const response = NextResponse.next({ request: { headers } })
  response.headers.set('x-new-checkout', String(local.value('new-checkout', contextOf(user))))
  return response
}
// #endregion

/** The paths of the proxy. */
export const config = { matcher: ['/', '/value', '/adapter'] }
