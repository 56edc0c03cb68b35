import { FlagError } from '@ff/core'
import type { IdentityProvider } from '../../src/ports/identity-provider.ts'

const CHECKS = { state: 'a-state', nonce: 'a-nonce', codeVerifier: 'a-verifier' }

/** The query of the callback URL after a successful log-in. */
export const CALLBACK_QUERY = `code=a-code&state=${CHECKS.state}`

/** Creates an identity provider of a host that always confirms the identity of one user. */
export function identityProviderFor(email: string, subject = email): IdentityProvider {
  return {
    name: 'Keycloak',
    begin: async (redirectUri) => {
      const url = `https://login.test/?redirect_uri=${encodeURIComponent(redirectUri)}`
      return { url, checks: CHECKS }
    },
    finish: async (callbackUrl, { state }) => {
      const { searchParams } = new URL(callbackUrl)
      if (searchParams.get('state') !== state || searchParams.get('code') !== 'a-code') {
        throw new FlagError('UNAUTHENTICATED', 'The response does not match the request.')
      }
      return { issuer: 'https://login.test', subject, email, isEmailVerified: true }
    },
  }
}
