/** An identity that an identity provider has verified. */
export interface Identity {
  /** The issuer identifier of the provider, which never changes. */
  readonly issuer: string
  /** The provider's id of the user, which the provider never assigns to another user. */
  readonly subject: string
  readonly email: string | undefined
  /** `true` if the provider has verified that the address belongs to the user. */
  readonly isEmailVerified: boolean
}

/** The secrets that the browser keeps from the redirect to the provider until the redirect back. */
export interface AuthorizationChecks {
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
}

/**
 * Verifies the identities of users. An implementation is `oidcProvider` of `@ff/management/oidc`.
 */
export interface IdentityProvider {
  /** The name that users see, such as `Keycloak`; 1 to 256 characters. */
  readonly name: string
  /**
   * Returns the URL of the provider to redirect a browser to, and the secrets to keep. The provider
   * redirects the browser to `redirectUri` afterwards. Throws `UNAVAILABLE` if the provider cannot
   * be reached.
   */
  begin(
    redirectUri: string,
  ): Promise<{ readonly url: string; readonly checks: AuthorizationChecks }>
  /**
   * Returns the identity of the user of a browser that the provider has redirected to
   * `redirectUri`. `callbackUrl` is this URL with the parameters `code`, `state`, `iss` and `error`
   * that the provider added. Throws `UNAUTHENTICATED` if the provider refused the log-in or the
   * response does not match `checks`, and `UNAVAILABLE` if the provider cannot be reached.
   */
  finish(callbackUrl: string, checks: AuthorizationChecks): Promise<Identity>
}
