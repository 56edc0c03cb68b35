import { addressOf, type Client, type Clock, hashSecret } from '@ff/server/plane'
import { Attempts } from './attempts.ts'

/** The number of wrong bearer tokens and session cookies that an address can send in 15 minutes. */
const WRONG_CREDENTIALS = 300

/** The maximum number of accepted credentials in memory; the most recently used ones are kept. */
const MOST_ACCEPTED = 10_000

interface CredentialAttemptsOptions {
  readonly clock: Clock
  readonly trustProxy: boolean
}

/**
 * Limits the cost of wrong credentials. After too many wrong credentials from one network address,
 * further credentials from that address are refused before they are looked up. Credentials that
 * this process has accepted before are always looked up, so that other callers with the same
 * address cannot block them. Callers without a known address are not counted.
 */
export class CredentialAttempts {
  readonly #attempts: Attempts
  readonly #trustProxy: boolean
  /** Hashes of accepted credentials, the most recently used one last. */
  readonly #accepted = new Set<string>()

  constructor({ clock, trustProxy }: CredentialAttemptsOptions) {
    this.#attempts = new Attempts({ clock, limit: WRONG_CREDENTIALS })
    this.#trustProxy = trustProxy
  }

  /**
   * Calls `find` and returns its result, which is `undefined` if the secret is wrong. Throws
   * `RATE_LIMITED` without calling `find` if the client's address has no attempts left.
   */
  async find<T>(
    client: Client,
    secret: string,
    find: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const hash = await hashSecret(secret)
    const address = this.#accepted.has(hash) ? undefined : addressOf(client, this.#trustProxy)
    if (address !== undefined) this.#attempts.take(address)
    let isWrong = false
    try {
      const found = await find()
      isWrong = found === undefined
      this.#remember(hash, !isWrong)
      return found
    } finally {
      if (address !== undefined && !isWrong) this.#attempts.giveBack(address)
    }
  }

  #remember(hash: string, isAccepted: boolean): void {
    this.#accepted.delete(hash)
    if (!isAccepted) return
    this.#accepted.add(hash)
    for (const oldest of this.#accepted) {
      if (this.#accepted.size <= MOST_ACCEPTED) break
      this.#accepted.delete(oldest)
    }
  }
}
