import type { ReactNode } from 'react'
import { local, whenReady } from '../local-flags.ts'
import { contextOf } from '../shop-flags.ts'
import { Shop } from './shop.tsx'

export const dynamic = 'force-dynamic'

interface PageProps {
  readonly searchParams: Promise<{ readonly user?: string }>
}

// #region page
/** A server component, which evaluates flags and passes the values to a client component. */
export default async function Page({ searchParams }: PageProps): Promise<ReactNode> {
  const { user = '' } = await searchParams
  await whenReady
  const context = contextOf(user)
  return (
    <main>
      <p id="server">{String(local.value('new-checkout', context))}</p>
      <Shop
        user={user}
        url={process.env['FF_URL'] ?? ''}
        sdkKey={process.env['FF_CLIENT_KEY'] ?? ''}
        snapshot={local.snapshot(context)}
      />
    </main>
  )
}
// #endregion
