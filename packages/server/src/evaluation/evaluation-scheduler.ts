import { FlagError } from '@ff/core'
import type { RequestLimiter } from '../access/rate-limit.ts'
import type { EnvironmentScope } from '../access/sdk-keys.ts'
import type { Clock } from '../clock.ts'

/** A request counts once for each started period of this length that its evaluation takes. */
const COUNTED_MS = 2

/** How many requests of one SDK key, and of all together, wait at most. */
const MAX_WAITING_OF_KEY = 64
const MAX_WAITING = 256

/** When a request that found no room to wait is asked to come back. */
const RETRY_AFTER_SECONDS = 1

interface EvaluationSchedulerParts {
  readonly clock: Clock
  readonly limiter: Pick<RequestLimiter, 'charge'>
}

/**
 * Runs the evaluations of requests. Most take microseconds and run at once. A slow one counts as
 * several requests of its SDK key; further requests of that key wait, and run one for each turn of
 * the event loop, so that everything else has its turn in between. Keys take turns as well.
 */
export class EvaluationScheduler {
  readonly #clock: Clock
  readonly #limiter: Pick<RequestLimiter, 'charge'>
  /** The keys whose last evaluation was slow. */
  readonly #slow = new Set<string>()
  /** What waits, by key; the key whose turn it is comes first. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #waitingCount = 0
  #isArmed = false

  constructor({ clock, limiter }: EvaluationSchedulerParts) {
    this.#clock = clock
    this.#limiter = limiter
  }

  /** Does the work, at once or in a later turn. Throws `RATE_LIMITED` if too much waits already. */
  run<Result>(scope: EnvironmentScope, work: () => Result): Result | Promise<Result> {
    if (!this.#slow.has(scope.keyId)) return this.#timed(scope, work)
    const queue = this.#waiting.get(scope.keyId) ?? []
    if (queue.length >= MAX_WAITING_OF_KEY || this.#waitingCount >= MAX_WAITING) throw tooMany()
    return new Promise((resolve, reject) => {
      queue.push(() => {
        try {
          resolve(this.#timed(scope, work))
        } catch (error) {
          reject(error)
        }
      })
      this.#waiting.set(scope.keyId, queue)
      this.#waitingCount += 1
      this.#arm()
    })
  }

  #timed<Result>(scope: EnvironmentScope, work: () => Result): Result {
    const startedAt = this.#clock.monotonicNow()
    try {
      return work()
    } finally {
      const count = Math.ceil((this.#clock.monotonicNow() - startedAt) / COUNTED_MS)
      if (count > 1) {
        this.#limiter.charge(scope, count - 1)
        this.#slow.add(scope.keyId)
      } else if (this.#slow.size > 0) this.#slow.delete(scope.keyId)
    }
  }

  #arm(): void {
    if (this.#isArmed) return
    this.#isArmed = true
    setImmediate(() => this.#runNext())
  }

  #runNext(): void {
    this.#isArmed = false
    for (const [keyId, queue] of this.#waiting) {
      this.#waiting.delete(keyId)
      const work = queue.shift()
      this.#waitingCount -= 1
      if (queue.length > 0) this.#waiting.set(keyId, queue)
      if (this.#waitingCount > 0) this.#arm()
      work?.()
      return
    }
  }
}

function tooMany(): FlagError {
  const message = 'Too many slow evaluations of this SDK key are waiting; retry in a second.'
  return new FlagError('RATE_LIMITED', message, { details: { seconds: RETRY_AFTER_SECONDS } })
}
