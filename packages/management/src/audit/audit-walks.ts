import { FlagError } from '@ff/core'
import { type Clock, type TimeSlice, TimeSliceQueue } from '@ff/server/plane'

/**
 * The maximum duration of an export or a verification. A client that reads an export more slowly
 * must filter by date.
 */
const LONGEST_WALK_MS = 60 * 60_000

/** The number of seconds after which a refused request can be repeated. */
const RETRY_AFTER_SECONDS = 5

/**
 * Begins walks through the audit log. A walk reads all entries of a log, for an export or a
 * verification. In this process, each organization has at most one walk at a time. Each turn of the
 * event loop runs at most one time slice of all walks.
 */
export class AuditWalks {
  readonly #clock: Clock
  readonly #walking = new Set<string>()
  readonly #slices = new TimeSliceQueue()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Begins a walk through the log of an organization, or through the log of the whole installation
   * if `orgId` is `undefined`. A walk through the whole installation does not exclude walks through
   * organizations. The caller must end the walk. Throws `RATE_LIMITED` while another walk through
   * the same log is in progress.
   */
  begin(orgId: string | undefined): AuditWalk {
    const place = orgId ?? ''
    if (this.#walking.has(place)) throw walkUnderWay()
    this.#walking.add(place)
    const walk = new AuditWalk(this.#slices, () => {
      cancel()
      this.#walking.delete(place)
    })
    const cancel = this.#clock.schedule(LONGEST_WALK_MS, () => walk.end())
    return walk
  }
}

/** A walk through the audit log. It excludes other walks through the same log until it ends. */
export class AuditWalk {
  readonly #slices: TimeSliceQueue
  readonly #release: () => void
  #hasEnded = false

  constructor(slices: TimeSliceQueue, release: () => void) {
    this.#slices = slices
    this.#release = release
  }

  /** Waits for the next time slice and returns it. Throws `UNAVAILABLE` if the walk has ended. */
  async nextSlice(): Promise<TimeSlice> {
    const slice = await this.#slices.next()
    if (this.#hasEnded) throw new FlagError('UNAVAILABLE', 'Reading the log took over one hour.')
    return slice
  }

  /** Ends the walk. Has no effect if the walk has ended. */
  end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#release()
  }

  /**
   * Returns an iterable of the same entries. The walk ends after the last entry, after a failure,
   * or when `return` is called on the iterator, even if no entry was read.
   */
  through<T>(entries: AsyncGenerator<T, void>): AsyncIterable<T> {
    const step = async (pending: Promise<IteratorResult<T, void>>) => {
      let isLast = true
      try {
        const result = await pending
        isLast = result.done === true
        return result
      } finally {
        if (isLast) this.end()
      }
    }
    const iterator = {
      next: () => step(entries.next()),
      // A pending read stops at its next time slice.
      return: () => {
        this.end()
        return step(entries.return())
      },
    }
    return { [Symbol.asyncIterator]: () => iterator }
  }
}

function walkUnderWay(): FlagError {
  const message = 'Another request is verifying or exporting the audit log. Try again later.'
  return new FlagError('RATE_LIMITED', message, { details: { seconds: RETRY_AFTER_SECONDS } })
}
