import { FlagError } from '@ff/core'
import type { RequestLimiter } from '../access/rate-limit.ts'
import type { EnvironmentScope } from '../access/scope.ts'
import type { Clock } from '../runtime/clock.ts'
import { MAX_QUEUED_BYTES, MAX_QUEUED_BYTES_OF_KEY } from '../runtime/memory-bounds.ts'
import { inNextTurn } from '../runtime/time-slice.ts'

/**
 * The length of the periods by which evaluations are counted. A request counts once per period that
 * its evaluation has started.
 */
const COUNTED_MS = 2

/**
 * The time that the requests of one SDK key may take in one turn of the event loop. Further
 * requests of the key wait.
 */
const TURN_MS = 4

/**
 * The maximum duration of a short evaluation. Short evaluations are not added up, because a turn
 * rarely contains enough of them to matter.
 */
const SHORT_MS = 0.2

/** The time after which a request that was refused because of a full queue may be sent again. */
const RETRY_AFTER_SECONDS = 1

interface EvaluationSchedulerOptions {
  readonly clock: Clock
  readonly limiter: Pick<RequestLimiter, 'charge'>
}

/** The queued requests of an SDK key. */
interface Queue {
  readonly requests: { readonly bytes: number; readonly run: () => void }[]
  bytes: number
}

/**
 * Runs the evaluations of requests and sockets. Most take microseconds and run immediately. A slow
 * evaluation counts as several requests of its SDK key. If the requests of a key take too long in
 * one turn of the event loop, further requests of the key wait for later turns, so that other work
 * can run in between. Keys with waiting requests take turns.
 */
export class EvaluationScheduler {
  readonly #clock: Clock
  readonly #limiter: Pick<RequestLimiter, 'charge'>
  /**
   * The milliseconds that the requests of each key have taken in this turn, without short
   * evaluations.
   */
  readonly #spent = new Map<string, number>()
  /** The queue of each key. The key with the next turn comes first. */
  readonly #queues = new Map<string, Queue>()
  #queuedBytes = 0
  #isArmed = false

  constructor({ clock, limiter }: EvaluationSchedulerOptions) {
    this.#clock = clock
    this.#limiter = limiter
  }

  /**
   * Runs the work of a request, immediately or in a later turn. `bytes` is the size of its body.
   * Throws `RATE_LIMITED` if the work must wait and the queue is full.
   */
  run<Result>(
    scope: EnvironmentScope,
    bytes: number,
    work: () => Result | Promise<Result>,
  ): Result | Promise<Result> {
    const queue = this.#queues.get(scope.keyId)
    const isLate = (this.#spent.get(scope.keyId) ?? 0) >= TURN_MS
    if (queue === undefined && !isLate) return this.#timed(scope, work)
    return this.#enqueue(scope, bytes, work)
  }

  #enqueue<Result>(
    scope: EnvironmentScope,
    bytes: number,
    work: () => Result | Promise<Result>,
  ): Promise<Result> {
    const queue = this.#queues.get(scope.keyId) ?? { requests: [], bytes: 0 }
    const isFull =
      queue.bytes + bytes > MAX_QUEUED_BYTES_OF_KEY || this.#queuedBytes + bytes > MAX_QUEUED_BYTES
    if (isFull) throw tooMany()
    return new Promise((resolve, reject) => {
      const run = () => {
        try {
          resolve(this.#timed(scope, work))
        } catch (error) {
          reject(error)
        }
      }
      queue.requests.push({ bytes, run })
      queue.bytes += bytes
      this.#queuedBytes += bytes
      this.#queues.set(scope.keyId, queue)
      this.#arm()
    })
  }

  /** Runs `work` and measures it up to its first `await`. */
  #timed<Result>(scope: EnvironmentScope, work: () => Result): Result {
    const startedAt = this.#clock.monotonicNow()
    try {
      return work()
    } finally {
      const ms = this.#clock.monotonicNow() - startedAt
      if (ms > SHORT_MS) {
        this.#spent.set(scope.keyId, (this.#spent.get(scope.keyId) ?? 0) + ms)
        if (ms > COUNTED_MS) this.#limiter.charge(scope, Math.ceil(ms / COUNTED_MS) - 1)
        this.#arm()
      }
    }
  }

  #arm(): void {
    if (this.#isArmed) return
    this.#isArmed = true
    inNextTurn(() => this.#beginTurn())
  }

  #beginTurn(): void {
    this.#isArmed = false
    this.#spent.clear()
    const startedAt = this.#clock.monotonicNow()
    for (const [keyId, queue] of this.#queues) {
      const request = queue.requests.shift()
      // The key moves behind the other keys if it has more requests.
      this.#queues.delete(keyId)
      if (request === undefined) continue
      queue.bytes -= request.bytes
      this.#queuedBytes -= request.bytes
      if (queue.requests.length > 0) this.#queues.set(keyId, queue)
      request.run()
      if (this.#clock.monotonicNow() - startedAt >= TURN_MS) break
    }
    if (this.#queues.size > 0) this.#arm()
  }
}

function tooMany(): FlagError {
  const message = 'Too many slow requests are waiting; retry in a second.'
  return new FlagError('RATE_LIMITED', message, { details: { seconds: RETRY_AFTER_SECONDS } })
}
