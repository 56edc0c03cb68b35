import type { FlagSet } from '@ff/core'
import type { FlagSetScope } from '../access/sdk-keys.ts'
import type { Clock } from '../runtime/clock.ts'
import { inNextTurn, TimeSlice } from '../runtime/time-slice.ts'
import type { FlagSession } from './flag-session.ts'
import { FlagSetState } from './flag-set-diff.ts'
import type { SessionRegistry } from './session-registry.ts'

/** A delivery to the sessions of one environment and kind of SDK key. */
interface Delivery {
  readonly scope: FlagSetScope
  /** The flag set that the remaining sessions receive. */
  flagSet: FlagSet
  readonly sessions: Iterator<FlagSession>
  /** `true` if the flag set was replaced after some sessions had received the previous one. */
  isOvertaken: boolean
}

/**
 * Sends changes to live clients in time slices, so that requests are processed in between. If a
 * newer flag set is published during a delivery, the remaining sessions receive the newer one
 * immediately, and the other sessions receive it afterwards.
 */
export class DeliveryQueue {
  readonly #registry: SessionRegistry
  readonly #clock: Clock
  readonly #deliveries = new Map<string, Delivery>()
  #isScheduled = false

  constructor(registry: SessionRegistry, clock: Clock) {
    this.#registry = registry
    this.#clock = clock
  }

  /** Queues the delivery of a scope's flag set, which is new or has reached another step. */
  publish(scope: FlagSetScope, flagSet: FlagSet): void {
    const name = `${scope.kind} ${scope.environmentId}`
    const delivery = this.#deliveries.get(name)
    if (delivery === undefined) this.#deliveries.set(name, this.#begin(scope, flagSet))
    else {
      delivery.flagSet = flagSet
      delivery.isOvertaken = true
    }
    this.#schedule()
  }

  /** Discards all queued deliveries. */
  stop(): void {
    this.#deliveries.clear()
  }

  #begin(scope: FlagSetScope, flagSet: FlagSet): Delivery {
    const sessions = this.#registry.of(scope)[Symbol.iterator]()
    return { scope, flagSet, sessions, isOvertaken: false }
  }

  #runTimeSlice(): void {
    this.#isScheduled = false
    const slice = new TimeSlice()
    for (const [name, delivery] of this.#deliveries) {
      const current = FlagSetState.of(delivery.flagSet, this.#clock.now())
      const isOver = deliverSome(delivery.sessions, current, slice)
      this.#deliveries.delete(name)
      if (isOver && !delivery.isOvertaken) continue
      // The delivery moves to the end of the queue, so that a large environment does not delay
      // small ones.
      const next = isOver ? this.#begin(delivery.scope, delivery.flagSet) : delivery
      this.#deliveries.set(name, next)
      if (!isOver) break
    }
    if (this.#deliveries.size > 0) this.#schedule()
  }

  /**
   * Schedules the next time slice. Even the first time slice starts in a later turn, because
   * loading the new version has already taken time in this turn.
   */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    inNextTurn(() => this.#runTimeSlice())
  }
}

/** Delivers to sessions until the time slice ends. Returns `true` if no session is left. */
function deliverSome(
  sessions: Iterator<FlagSession>,
  current: FlagSetState,
  slice: TimeSlice,
): boolean {
  while (slice.take()) {
    const next = sessions.next()
    if (next.done === true) return true
    next.value.sendChanges(current)
  }
  return false
}
