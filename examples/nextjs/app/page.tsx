import type { ReactNode } from 'react'
import { flags } from '../flags.ts'

export const dynamic = 'force-dynamic'

/** A page that depends on a flag. */
export default async function Page(): Promise<ReactNode> {
  const live = { project: 'site', environment: 'live' }
  const maintenance = await flags.value(live, 'maintenance', {}, false)
  return <p>{maintenance ? 'Back soon.' : 'Welcome.'}</p>
}
