/**
 * The result of verifying a password. `outdated` means that the password is right, but its hash
 * should be replaced.
 */
export type PasswordVerdict = 'wrong' | 'right' | 'outdated'

/**
 * Hashes passwords for storage. A host that provides its own hasher is responsible for the strength
 * of the hashes.
 */
export interface PasswordHasher {
  /** Returns the hash of a password. Throws `RATE_LIMITED` if too many calls are waiting. */
  hash(password: string): Promise<string>
  /**
   * Compares a password with a hash. If the hash is `null`, does the same work and returns `wrong`,
   * so that the response time does not reveal whether a user exists. Throws `RATE_LIMITED` if too
   * many calls are waiting.
   */
  verify(password: string, hash: string | null): Promise<PasswordVerdict>
}
