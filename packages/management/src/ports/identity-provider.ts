/** Who somebody is, as an identity provider vouches for it. */
export interface Identity {
  /** The provider's own name, the same for ever. */
  readonly issuer: string
  /** Who it is, in the provider's words; never given to anybody else. */
  readonly subject: string
  readonly email: string | undefined
  /** Whether the provider knows that the address is theirs. */
  readonly isEmailVerified: boolean
}

/** What must be remembered by the browser that was sent to the provider, and by nobody else. */
export interface AuthorizationChecks {
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
}

/** Where people prove who they are, such as `oidcProvider` of `@ff/server/oidc`. */
export interface IdentityProvider {
  /** Where to send somebody, to come back to `redirectUri`. Throws `UNAVAILABLE`. */
  begin(
    redirectUri: string,
  ): Promise<{ readonly url: string; readonly checks: AuthorizationChecks }>
  /**
   * Who came back, to the address they were to come back to, with `code`, `state`, `iss` and
   * `error` in its query, those that were sent. Throws `UNAUTHENTICATED` when the provider
   * refuses, or when this is not what it was asked for; `UNAVAILABLE`.
   */
  finish(callbackUrl: string, checks: AuthorizationChecks): Promise<Identity>
}
