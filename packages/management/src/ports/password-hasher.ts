/** What is known of a password that was tried. `outdated`: right, and to be hashed anew. */
export type PasswordVerdict = 'wrong' | 'right' | 'outdated'

/** Makes of passwords what may be stored. Whoever brings another one answers for its strength. */
export interface PasswordHasher {
  /** Throws `RATE_LIMITED` when more passwords wait than can be hashed in time. */
  hash(password: string): Promise<string>
  /**
   * Does the same work, and answers `wrong`, when there is no hash: how long it takes tells nobody
   * who is known here. Throws as `hash` does.
   */
  verify(password: string, hash: string | null): Promise<PasswordVerdict>
}
