import { local, whenReady } from '../../local-flags.ts'
import { contextOf } from '../../shop-flags.ts'

export const dynamic = 'force-dynamic'

// #region route
/** A route handler. */
export async function GET(request: Request): Promise<Response> {
  const user = new URL(request.url).searchParams.get('user') ?? ''
  await whenReady
  return Response.json(local.value('new-checkout', contextOf(user)))
}
// #endregion
