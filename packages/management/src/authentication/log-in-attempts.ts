import { isFlagError } from '@ff/core'
import type { Clock } from '@ff/server/plane'
import { Attempts, tooManyAttempts } from './attempts.ts'

const BUSY_SECONDS = 2

/** The limits of failed attempts in a window, and of attempts of unknown devices in progress. */
function createLimits(clock: Clock) {
  return {
    // Each name has once logged in, so a stranger cannot make the table forget.
    devices: new Attempts({ clock, limit: 10, whenFull: 'forget oldest' }),
    accountsInNetworks: new Attempts({ clock, limit: 10 }),
    // A network may be a whole office.
    networks: new Attempts({ clock, limit: 50 }),
    // Ends guessing from many networks.
    accounts: new Attempts({ clock, limit: 100 }),
    // Bounds the hashing that unknown devices cause, and the names that are remembered of them.
    total: new Attempts({ clock, limit: 3000 }),
    networksAtOnce: new AttemptsAtOnce(4),
    // Less than a password hasher lets wait, so that known devices and other networks find room.
    totalAtOnce: new AttemptsAtOnce(8),
  }
}

/** What is known of an attempt before anything is tried. */
export interface LogInAttempt {
  /** `undefined` if it is not known: all such clients share one unnamed network. */
  readonly network: string | undefined
  /** The e-mail address; `undefined` if only the attempt itself can name the account. */
  readonly account: string | undefined
  /** The id of a device that is known for the account. */
  readonly device: string | undefined
}

/** A limit of failed attempts, or of attempts in progress. */
type Limit = Pick<Attempts, keyof Attempts>

/** A limit and the name that an attempt has there. */
type Counted = readonly [Limit, string]

/**
 * Limits failed attempts to log in. A known device counts for itself only, so that attempts of others
 * do not block it; all others count for account and network, network, account, and in total. An
 * attempt without an account proves itself elsewhere and costs no hashing: it counts for the network
 * only. Everything is in memory, and bounded.
 */
export class LogInAttempts {
  readonly #limits: ReturnType<typeof createLimits>

  constructor({ clock }: { readonly clock: Clock }) {
    this.#limits = createLimits(clock)
  }

  /**
   * Calls `prove` and returns its result. Throws `RATE_LIMITED` without calling it, and without
   * counting, when a limit is reached. The attempt counts if `prove` returns `false` or throws
   * `UNAUTHENTICATED`.
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
      // No header, and so no network, contains a line break.
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

/** Limits how many attempts of a name are in progress. */
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
