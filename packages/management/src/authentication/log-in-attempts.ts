import { isFlagError } from '@ff/core'
import type { Clock } from '@ff/server/plane'
import { Attempts, tooManyAttempts } from './attempts.ts'

/** Failed attempts in a window. */
const LIMITS = {
  ofDevice: 10,
  ofAccountInNetwork: 10,
  /** A network may be a whole office. */
  ofNetwork: 50,
  /** Ends guessing from many networks. */
  ofAccount: 100,
  /** Bounds the hashing that unknown devices cause, and the names that are remembered of them. */
  inTotal: 3000,
} as const

/**
 * Attempts of unknown devices in progress, in total and for each network. The total is less than
 * a password hasher lets wait, so that known devices and other networks find room.
 */
const MOST_AT_ONCE = { inTotal: 8, ofNetwork: 4 } as const
const BUSY_SECONDS = 2

/** What is known of an attempt before anything is tried. */
export interface LogInAttempt {
  /** `undefined` if it is not known: all such clients share one unnamed network. */
  readonly network: string | undefined
  /** The e-mail address; `undefined` if only the attempt itself can name the account. */
  readonly account: string | undefined
  /** The id of a device that is known for the account. */
  readonly device: string | undefined
}

interface Limit {
  /** Throws `RATE_LIMITED` if the name has reached the limit. */
  assertLeft(name: string): void
  take(name: string): void
  giveBack(name: string): void
}

/** A limit and the name that an attempt has there. */
type Counted = readonly [Limit, string]

/**
 * Limits failed attempts to log in. A known device counts for itself only, so that attempts of others
 * do not block it; all others count for account and network, network, account, and in total. An
 * attempt without an account proves itself elsewhere and costs no hashing: it counts for the network
 * only. Everything is in memory, and bounded.
 */
export class LogInAttempts {
  readonly #devices: Attempts
  readonly #accountsInNetworks: Attempts
  readonly #networks: Attempts
  readonly #accounts: Attempts
  readonly #total: Attempts
  readonly #networksAtOnce = new AttemptsAtOnce(MOST_AT_ONCE.ofNetwork)
  readonly #totalAtOnce = new AttemptsAtOnce(MOST_AT_ONCE.inTotal)

  constructor({ clock }: { readonly clock: Clock }) {
    // Each name has once logged in, so a stranger cannot make the table forget.
    this.#devices = new Attempts({ clock, limit: LIMITS.ofDevice, whenFull: 'forget oldest' })
    this.#accountsInNetworks = new Attempts({ clock, limit: LIMITS.ofAccountInNetwork })
    this.#networks = new Attempts({ clock, limit: LIMITS.ofNetwork })
    this.#accounts = new Attempts({ clock, limit: LIMITS.ofAccount })
    this.#total = new Attempts({ clock, limit: LIMITS.inTotal })
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
    if (device !== undefined) return [[this.#devices, device]]
    if (account === undefined) return [[this.#networks, network]]
    return [
      [this.#networks, network],
      // No header, and so no network, contains a line break.
      [this.#accountsInNetworks, `${network}\n${account}`],
      [this.#accounts, account],
      [this.#total, ''],
    ]
  }

  #placesOf({ network = '', account, device }: LogInAttempt): readonly Counted[] {
    if (device !== undefined || account === undefined) return []
    return [
      [this.#networksAtOnce, network],
      [this.#totalAtOnce, ''],
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
