import { checkoutState } from '../../flags.ts'

export const dynamic = 'force-dynamic'

/** A route handler that Next.js runs for each request. */
export async function GET(): Promise<Response> {
  return Response.json(await checkoutState())
}
