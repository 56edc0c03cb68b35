/** The result of verifying a password. `outdated`: right, but its hash should be replaced. */
export type PasswordVerdict = 'wrong' | 'right' | 'outdated'

/** Hashes passwords for storage. A host with its own hasher is responsible for its strength. */
export interface PasswordHasher {
  /** Throws `RATE_LIMITED` when more passwords wait than can be hashed in time. */
  hash(password: string): Promise<string>
  /**
   * Does the same work, and returns `wrong`, if the hash is `null`, so that the time does not reveal
   * whether an address is known. Throws as `hash` does.
   */
  verify(password: string, hash: string | null): Promise<PasswordVerdict>
}
