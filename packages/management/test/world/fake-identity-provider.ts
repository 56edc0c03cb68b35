import { FlagError } from '@ff/core'
import type { IdentityProvider } from '../../src/ports/identity-provider.ts'

const CHECKS = { state: 'a-state', nonce: 'a-nonce', codeVerifier: 'a-verifier' }

/** What whoever is vouched for comes back with. */
export const CALLBACK_QUERY = `code=a-code&state=${CHECKS.state}`

/** An identity provider as a host may bring one: it vouches for one person, and asks nobody. */
export function identityProviderFor(email: string, subject = email): IdentityProvider {
  return {
    begin: async (redirectUri) => {
      const url = `https://login.test/?redirect_uri=${encodeURIComponent(redirectUri)}`
      return { url, checks: CHECKS }
    },
    finish: async (callbackUrl, { state }) => {
      const { searchParams } = new URL(callbackUrl)
      if (searchParams.get('state') !== state || searchParams.get('code') !== 'a-code') {
        throw new FlagError('UNAUTHENTICATED', 'This is not the answer to what was asked.')
      }
      return { issuer: 'https://login.test', subject, email, isEmailVerified: true }
    },
  }
}
