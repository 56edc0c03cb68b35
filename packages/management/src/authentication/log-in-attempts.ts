import { isFlagError } from '@ff/core'
import type { Clock } from '@ff/server/plane'
import { Attempts, tooManyAttempts } from './attempts.ts'

const BUSY_SECONDS = 2

/** Creates the limits of failed attempts, and of concurrent attempts from unknown devices. */
function createLimits(clock: Clock) {
  return {
    // Each device has logged in before, so an attacker cannot displace names from the table.
    devices: new Attempts({ clock, limit: 10, whenFull: 'forget oldest' }),
    accountsInNetworks: new Attempts({ clock, limit: 10 }),
    // A whole office can share one network.
    networks: new Attempts({ clock, limit: 50 }),
    // Stops guessing from many networks.
    accounts: new Attempts({ clock, limit: 100 }),
    // Limits the password hashing for unknown devices, and the memory for their names.
    total: new Attempts({ clock, limit: 3000 }),
    networksAtOnce: new AttemptsAtOnce(4),
    // Less than the queue of a password hasher, so that unknown devices alone cannot fill the
    // queue.
    totalAtOnce: new AttemptsAtOnce(8),
  }
}

/** The properties of an attempt that the limits depend on. */
export interface LogInAttempt {
  /**
   * The network of the client; `undefined` if it is unknown. All clients without a known network
   * count as one network.
   */
  readonly network: string | undefined
  /** The e-mail address; `undefined` if the account is not known before the proof of identity. */
  readonly account: string | undefined
  /** The id of a known device of the account; `undefined` for an unknown device. */
  readonly device: string | undefined
}

/** A limit of failed attempts, or of attempts in progress. */
type Limit = Pick<Attempts, keyof Attempts>

/** A limit, and the name that an attempt counts for in this limit. */
type Counted = readonly [Limit, string]

/**
 * Limits failed attempts to log in. An attempt from a known device counts for this device only, so
 * that attempts of other clients do not block the device. Any other attempt counts for the account
 * in its network, for the network, for the account, and in total. An attempt without an account
 * uses an identity provider and needs no password hashing, so it counts for the network only. All
 * counts are kept in bounded memory.
 */
export class LogInAttempts {
  readonly #limits: ReturnType<typeof createLimits>

  constructor({ clock }: { readonly clock: Clock }) {
    this.#limits = createLimits(clock)
  }

  /**
   * Calls `prove` and returns its result. If a limit is reached, throws `RATE_LIMITED`; then
   * `prove` is not called and the attempt does not count. Otherwise, the attempt counts if `prove`
   * returns `false` or throws `UNAUTHENTICATED`.
   */
  async run(attempt: LogInAttempt, prove: () => Promise<boolean>): Promise<boolean> {
    const failures = this.#failuresOf(attempt)
    const places = this.#placesOf(attempt)
    const all = [...failures, ...places]
    for (const [limit, name] of all) limit.assertLeft(name)
    for (const [limit, name] of all) limit.take(name)
    let isWrong = false
    try {
      isWrong = !(await prove())
      return !isWrong
    } catch (error) {
      isWrong = isFlagError(error) && error.code === 'UNAUTHENTICATED'
      throw error
    } finally {
      for (const [limit, name] of isWrong ? places : all) limit.giveBack(name)
    }
  }

  #failuresOf({ network = '', account, device }: LogInAttempt): readonly Counted[] {
    const { devices, networks, accountsInNetworks, accounts, total } = this.#limits
    if (device !== undefined) return [[devices, device]]
    if (account === undefined) return [[networks, network]]
    return [
      [networks, network],
      // The separator is unambiguous: a network never contains a line break.
      [accountsInNetworks, `${network}\n${account}`],
      [accounts, account],
      [total, ''],
    ]
  }

  #placesOf({ network = '', account, device }: LogInAttempt): readonly Counted[] {
    if (device !== undefined || account === undefined) return []
    return [
      [this.#limits.networksAtOnce, network],
      [this.#limits.totalAtOnce, ''],
    ]
  }
}

/** Limits the number of concurrent attempts per name. */
class AttemptsAtOnce implements Limit {
  readonly #limit: number
  readonly #counts = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  assertLeft(name: string): void {
    if ((this.#counts.get(name) ?? 0) >= this.#limit) throw tooManyAttempts(BUSY_SECONDS)
  }

  take(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  giveBack(name: string): void {
    const used = this.#counts.get(name) ?? 0
    if (used > 1) this.#counts.set(name, used - 1)
    else this.#counts.delete(name)
  }
}
