import type { FlagSet } from '@ff/core'
import type { FlagSetScope } from '../access/scope.ts'
import type { Clock } from '../runtime/clock.ts'
import { inNextTurn, TimeSlice } from '../runtime/time-slice.ts'
import { FlagSetState } from './flag-set-diff.ts'
import type { LiveSession } from './live-session.ts'
import type { SessionRegistry } from './session-registry.ts'

/** A function object that is notified of the progress of deliveries. It must not throw. */
export interface DeliveryObserver {
  /** Called before a version that replaces another one is delivered. */
  begun(environmentId: string, version: number): void
  /**
   * Called after a part of a delivery: `reached` is the number of sessions that have received the
   * version, and `late` are the sessions that receive it later.
   */
  sent(environmentId: string, reached: number, late: readonly LiveSession[]): void
  /** Called when all sessions of an environment and a kind of SDK key were visited. */
  ended(environmentId: string): void
}

/** A delivery to the sessions of one environment and kind of SDK key. */
interface Delivery {
  readonly scope: FlagSetScope
  /** The flag set that the remaining sessions receive. */
  flagSet: FlagSet
  readonly sessions: Iterator<LiveSession>
  /** `true` if the flag set was replaced after some sessions had received the previous one. */
  isOvertaken: boolean
}

interface DeliveryQueueOptions {
  readonly sessions: SessionRegistry
  readonly clock: Clock
  readonly observer: DeliveryObserver
}

/**
 * Sends changes to live clients in time slices, so that requests are processed in between. If a
 * newer flag set is published during a delivery, the remaining sessions receive the newer one
 * immediately, and the other sessions receive it afterwards.
 */
export class DeliveryQueue {
  readonly #registry: SessionRegistry
  readonly #clock: Clock
  readonly #observer: DeliveryObserver
  readonly #deliveries = new Map<string, Delivery>()
  #isScheduled = false

  constructor({ sessions, clock, observer }: DeliveryQueueOptions) {
    this.#registry = sessions
    this.#clock = clock
    this.#observer = observer
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
      const isOver = this.#deliverSome(delivery, current, slice)
      this.#deliveries.delete(name)
      if (isOver && !delivery.isOvertaken) {
        this.#observer.ended(delivery.scope.environmentId)
        continue
      }
      // The delivery moves to the end of the queue, so that a large environment does not delay
      // small ones.
      const next = isOver ? this.#begin(delivery.scope, delivery.flagSet) : delivery
      this.#deliveries.set(name, next)
      if (!isOver) break
    }
    if (this.#deliveries.size > 0) this.#schedule()
  }

  /** Delivers to sessions until the time slice ends. Returns `true` if no session is left. */
  #deliverSome({ sessions, scope }: Delivery, current: FlagSetState, slice: TimeSlice): boolean {
    const { version } = current.flagSet
    const late: LiveSession[] = []
    let [reached, isOver] = [0, false]
    while (!isOver && slice.take()) {
      const { done, value: session } = sessions.next()
      isOver = done === true
      if (session === undefined) continue
      const hadVersion = session.hasVersion(version)
      session.sendChanges(current)
      if (hadVersion) continue
      if (session.hasVersion(version)) reached += 1
      else late.push(session)
    }
    this.#observer.sent(scope.environmentId, reached, late)
    return isOver
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
