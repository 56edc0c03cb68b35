/** An identity that an identity provider has verified. */
export interface Identity {
  /** The permanent name of the provider. */
  readonly issuer: string
  /** The provider's id of the user; never given to another user. */
  readonly subject: string
  readonly email: string | undefined
  /** Whether the provider has verified that the address is the user's. */
  readonly isEmailVerified: boolean
}

/** The secrets that the browser keeps while it is at the provider. */
export interface AuthorizationChecks {
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
}

/** Verifies identities of users, such as `oidcProvider` of `@ff/management/oidc`. */
export interface IdentityProvider {
  /** Returns the URL to redirect a browser to, which returns to `redirectUri`. Throws `UNAVAILABLE`. */
  begin(
    redirectUri: string,
  ): Promise<{ readonly url: string; readonly checks: AuthorizationChecks }>
  /**
   * Returns the identity of a browser that came back to `redirectUri`, with those of `code`, `state`,
   * `iss` and `error` in the query that the provider sent. Throws `UNAUTHENTICATED` if the provider
   * refuses, or if this is not the response to its request; `UNAVAILABLE`.
   */
  finish(callbackUrl: string, checks: AuthorizationChecks): Promise<Identity>
}
