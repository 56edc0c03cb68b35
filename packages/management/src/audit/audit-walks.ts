import { FlagError } from '@ff/core'
import { type Clock, type TimeSlice, TimeSliceQueue } from '@ff/server/plane'

/** How long a walk may last. A reader of an export that is slower than this has to filter by date. */
const LONGEST_WALK_MS = 60 * 60_000

/** When a request that found its organization's place taken may try again. */
const RETRY_AFTER_SECONDS = 5

/**
 * The walks through the audit log in this process: one at a time for each organization, and in a
 * turn of the event loop at most one slice of one of them.
 */
export class AuditWalks {
  readonly #clock: Clock
  readonly #walking = new Set<string>()
  readonly #slices = new TimeSliceQueue()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Begins a walk through the log of an organization; `undefined` is the log of the whole
   * installation, which has a place of its own. The caller must end the walk. Throws
   * `RATE_LIMITED` if another walk has the place.
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

/** One walk through the audit log. It has its organization's place until it ends. */
export class AuditWalk {
  readonly #slices: TimeSliceQueue
  readonly #release: () => void
  #hasEnded = false

  constructor(slices: TimeSliceQueue, release: () => void) {
    this.#slices = slices
    this.#release = release
  }

  /** Resolves with the next slice of the walk. Throws `UNAVAILABLE` if the walk has ended. */
  async nextSlice(): Promise<TimeSlice> {
    const slice = await this.#slices.next()
    if (this.#hasEnded) throw new FlagError('UNAVAILABLE', 'The audit log was read for too long.')
    return slice
  }

  /** Frees the place; the first call counts. */
  end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#release()
  }

  /**
   * The same entries. The walk ends with the last of them, with a failure, or when the iterator
   * is returned, even if no entry was taken.
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
      // An entry that is being looked for is given up at the next slice.
      return: () => {
        this.end()
        return step(entries.return())
      },
    }
    return { [Symbol.asyncIterator]: () => iterator }
  }
}

function walkUnderWay(): FlagError {
  const message =
    'The audit log of this organization is being verified or exported; try again later.'
  return new FlagError('RATE_LIMITED', message, { details: { seconds: RETRY_AFTER_SECONDS } })
}
