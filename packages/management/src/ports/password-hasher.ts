/** The result of verifying a password. `outdated`: right, but the hash should be replaced. */
export type PasswordVerdict = 'wrong' | 'right' | 'outdated'

/**
 * Hashes passwords for storage. A host that provides its own hasher is responsible for its
 * strength.
 */
export interface PasswordHasher {
  /** Returns the hash of a password. Throws `RATE_LIMITED` if too many passwords are waiting. */
  hash(password: string): Promise<string>
  /**
   * Compares a password with a hash. If the hash is `null`, does the same work and returns `wrong`,
   * so that the response time does not reveal whether a user exists. Throws `RATE_LIMITED` if too
   * many passwords are waiting.
   */
  verify(password: string, hash: string | null): Promise<PasswordVerdict>
}
