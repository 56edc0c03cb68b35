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
  /** Sent to the remaining sessions. */
  flagSet: FlagSet
  readonly sessions: Iterator<FlagSession>
  /** Whether the flag set was replaced after some sessions had received the former one. */
  isOvertaken: boolean
}

/**
 * Sends changes to live clients in time slices, between which requests are answered. A newer flag
 * set takes over a running delivery at its present session; it does not wait for the end.
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

  /** Queues the flag set of a scope, which is new or has reached another step. */
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
      // At the end of the queue: a large environment must not hold up the small ones.
      const next = isOver ? this.#begin(delivery.scope, delivery.flagSet) : delivery
      this.#deliveries.set(name, next)
      if (!isOver) break
    }
    if (this.#deliveries.size > 0) this.#schedule()
  }

  /** Waits before the first time slice, too: loading the new version has used this turn already. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    inNextTurn(() => this.#runTimeSlice())
  }
}

/** Returns whether no session is left. */
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
