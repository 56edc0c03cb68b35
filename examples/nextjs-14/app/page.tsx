import type { ReactNode } from 'react'
import { checkoutState } from '../flags.ts'

export const dynamic = 'force-dynamic'

/** A page that Next.js renders for each request. */
export default async function Page(): Promise<ReactNode> {
  return <pre>{JSON.stringify(await checkoutState())}</pre>
}
