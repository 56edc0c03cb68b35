import type { ManagementOptions } from '@ff/management'
import { isLoopback } from './config/access-config.ts'
import type { Config } from './config.ts'

/** Returns the options for the identity provider. Its module is loaded only if it is configured. */
export async function loadIdentityProvider({
  oidc,
  publicUrl,
}: Pick<Config, 'oidc' | 'publicUrl'>): Promise<
  Pick<ManagementOptions, 'identityProvider' | 'publicUrl'>
> {
  if (publicUrl === undefined) return {}
  if (oidc === undefined) return { publicUrl }
  const { oidcProvider } = await import('@ff/management/oidc')
  const allowHttp = isLoopback(new URL(oidc.issuer).hostname)
  return { publicUrl, identityProvider: oidcProvider({ ...oidc, allowHttp }) }
}
