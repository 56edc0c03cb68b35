import { newCheckout } from '../../sdk-flags.ts'

export const dynamic = 'force-dynamic'

/** Evaluates the flag with the Flags SDK. */
export async function GET(): Promise<Response> {
  return Response.json(await newCheckout())
}
