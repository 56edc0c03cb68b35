import { isFlagError } from '@ff/core'
import { type ServerServices, sha256, within } from '@ff/server/plane'
import { Attempts, attemptsWindowAt, tooManyAttempts } from './attempts.ts'

const BUSY_SECONDS = 2

/** The maximum time that a failed attempt waits until it is counted for all instances. */
const REPORT_WITHIN_MS = 250

/** The services that count failed attempts. */
type CountingServices = Pick<ServerServices, 'clock' | 'rateLimiter'>

/** Creates the limits of failed attempts, and of concurrent attempts from unknown devices. */
function createLimits(services: CountingServices) {
  return {
    // Each device has logged in before, so an attacker cannot displace names from the table.
    devices: new Failures(services, { of: 'device', limit: 10, whenFull: 'forget oldest' }),
    accountsInNetworks: new Failures(services, { of: 'account in network', limit: 10 }),
    // A whole office can share one network.
    networks: new Failures(services, { of: 'network', limit: 50 }),
    // Stops guessing from many networks.
    accounts: new Failures(services, { of: 'account', limit: 100 }),
    // Limits the password hashing for unknown devices, and the memory for their names.
    total: new Failures(services, { of: 'total', limit: 3000 }),
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
type Limit = Pick<Attempts, 'assertLeft' | 'take' | 'giveBack'>

/** A limit, and the name that an attempt counts for in this limit. */
type Counted<L extends Limit = Limit> = readonly [L, string]

/**
 * Limits failed attempts to log in. An attempt from a known device counts for this device only, so
 * that attempts of other clients do not block the device. Any other attempt counts for the account
 * in its network, for the network, for the account, and in total. An attempt without an account
 * uses an identity provider and needs no password hashing, so it counts for the network only. All
 * counts are kept in bounded memory.
 *
 * All instances that share a rate limiter count failed attempts together. An instance learns from
 * its own next failure that the limit is reached, so each instance permits at most one further
 * attempt.
 */
export class LogInAttempts {
  readonly #limits: ReturnType<typeof createLimits>

  constructor(services: CountingServices) {
    this.#limits = createLimits(services)
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
      if (isWrong) await Promise.all(failures.map(([limit, name]) => limit.report(name)))
    }
  }

  #failuresOf({ network = '', account, device }: LogInAttempt): readonly Counted<Failures>[] {
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

/** A limit of failed attempts, in this process and in all instances together. */
class Failures extends Attempts {
  readonly #services: CountingServices
  readonly #of: string
  readonly #limit: number

  constructor(services: CountingServices, options: FailuresOptions) {
    super({ clock: services.clock, ...options })
    this.#services = services
    this.#of = options.of
    this.#limit = options.limit
  }

  /**
   * Counts a failed attempt for all instances. If they had reached the limit, the name has no
   * attempts left. While the rate limiter fails, this process counts alone. Never rejects.
   */
  async report(name: string): Promise<void> {
    const { clock, rateLimiter } = this.#services
    const window = { limit: this.#limit, ...attemptsWindowAt(clock.now()) }
    // The hash has a fixed length, and reveals no address.
    const lease = sha256(name).then((hash) => {
      return rateLimiter.lease(`log-in ${this.#of} ${hash}`, window, 1)
    })
    const granted = await within(lease, { clock, ms: REPORT_WITHIN_MS }).catch(() => undefined)
    if (granted === 0) this.exhaust(name)
  }
}

interface FailuresOptions {
  /** The kind of the names, as a part of their key in the rate limiter. */
  readonly of: string
  readonly limit: number
  readonly whenFull?: 'forget oldest'
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
