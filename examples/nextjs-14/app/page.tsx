import { headers } from 'next/headers'
import type { ReactNode } from 'react'
import { checkoutState } from '../flags.ts'

export const dynamic = 'force-dynamic'

/** A page that Next.js renders for each request. */
export default async function Page(): Promise<ReactNode> {
  const state = JSON.stringify(await checkoutState())
  return <pre data-agent={headers().get('user-agent')}>{state}</pre>
}
