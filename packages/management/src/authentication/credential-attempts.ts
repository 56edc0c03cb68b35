import { addressOf, type Client, type Clock, hashSecret } from '@ff/server/plane'
import type { IssuedCredentials } from '../secrets/issued-credentials.ts'
import { Attempts } from './attempts.ts'

/** The number of wrong bearer tokens and session cookies that an address can send in 15 minutes. */
const WRONG_CREDENTIALS = 300

/**
 * The maximum number of accepted credentials in memory, and of refused ones; the most recently used
 * ones are kept.
 */
const MOST_REMEMBERED = 10_000

interface CredentialAttemptsOptions {
  readonly clock: Clock
  readonly trustProxy: boolean
  readonly issued: Pick<IssuedCredentials, 'isIssued'>
}

/**
 * Limits the cost of wrong credentials. After too many wrong credentials from one network address,
 * further credentials from that address are refused before they are looked up. Other callers with the
 * same address cannot block credentials that this process has accepted before, or that a process
 * with the same secret key has issued: these are always looked up, the latter until a look-up does
 * not find them. Callers without a known address are not counted.
 */
export class CredentialAttempts {
  readonly #attempts: Attempts
  readonly #trustProxy: boolean
  readonly #issued: CredentialAttemptsOptions['issued']
  /** Hashes of accepted credentials, the most recently used one last. */
  readonly #accepted = new Set<string>()
  /** Hashes of credentials that are not accepted any more, such as expired ones. */
  readonly #ended = new Set<string>()

  constructor({ clock, trustProxy, issued }: CredentialAttemptsOptions) {
    this.#attempts = new Attempts({ clock, limit: WRONG_CREDENTIALS })
    this.#trustProxy = trustProxy
    this.#issued = issued
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
    const isExempt =
      this.#accepted.has(hash) || (!this.#ended.has(hash) && (await this.#issued.isIssued(secret)))
    const address = isExempt ? undefined : addressOf(client, this.#trustProxy)
    if (address !== undefined) this.#attempts.take(address)
    let isWrong = false
    try {
      const found = await find()
      isWrong = found === undefined
      if (isWrong) this.#accepted.delete(hash)
      else remember(hash, this.#accepted)
      if (isWrong && isExempt) remember(hash, this.#ended)
      return found
    } finally {
      if (address !== undefined && !isWrong) this.#attempts.giveBack(address)
    }
  }
}

function remember(hash: string, hashes: Set<string>): void {
  hashes.delete(hash)
  hashes.add(hash)
  for (const oldest of hashes) {
    if (hashes.size <= MOST_REMEMBERED) break
    hashes.delete(oldest)
  }
}
