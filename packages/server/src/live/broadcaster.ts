import type { FlagSet } from '@ff/core'
import { stepAt } from '@ff/core/changes'
import type { ChangeFeed, FlagSetChange, Resync, Storage, Unsubscribe } from '@ff/storage'
import { type FlagSetScope, SDK_KEY_KINDS } from '../access/scope.ts'
import type { SdkKeyVerifier } from '../access/sdk-keys.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import type { FlagSetSwap } from '../evaluation/flag-set-swap.ts'
import type { Cancel, Clock } from '../runtime/clock.ts'
import { CoalescedTask } from '../runtime/coalesced-task.ts'
import { type DeliveryObserver, DeliveryQueue } from './delivery-queue.ts'
import type { SessionRegistry } from './session-registry.ts'

/**
 * The interval at which versions and keys are read again, so that the loss of a hint delays a
 * change by less than ten seconds.
 */
const CHECK_EVERY_MS = 5000

/** The pause between two refreshes that are caused by the change feed. */
const BETWEEN_RESYNCS_MS = 200

interface BroadcasterOptions {
  readonly storage: Storage
  readonly changeFeed: ChangeFeed
  readonly cache: FlagSetCache
  readonly keys: SdkKeyVerifier
  readonly sessions: SessionRegistry
  readonly clock: Clock
  readonly observer: DeliveryObserver
}

/**
 * Publishes changes to live clients. A hint of the change feed, a periodic check or a step of a
 * gradual rollout updates the sessions of an environment. A key that is no longer valid ends its
 * sessions.
 */
export class Broadcaster {
  readonly #options: BroadcasterOptions
  readonly #queue: DeliveryQueue
  /** Messages that arrive during a resync and the pause after it cause one more. */
  readonly #resync = new CoalescedTask(async () => {
    await this.refresh()
    await new Promise<void>((resolve) => {
      this.#options.clock.schedule(BETWEEN_RESYNCS_MS, resolve)
    })
  })
  /** The last published step of each flag set. */
  readonly #publishedSteps = new WeakMap<FlagSet, number>()
  #unsubscribe: Unsubscribe | undefined
  #cancelCheck: Cancel | undefined
  #cancelStep: Cancel | undefined
  /** The time of the scheduled step, in epoch milliseconds. */
  #stepAt = Number.POSITIVE_INFINITY

  constructor(options: BroadcasterOptions) {
    this.#options = options
    this.#queue = new DeliveryQueue(options)
    options.cache.listen((swap) => this.#onSwap(swap))
    options.keys.listen(() => this.#endRefused())
  }

  /**
   * Subscribes to the change feed and starts the periodic checks. Must be called before flag sets
   * and keys are read, so that no change is missed.
   */
  async start(): Promise<void> {
    this.#unsubscribe ??= await this.#options.changeFeed.subscribe((change) =>
      this.#receive(change),
    )
    this.#cancelCheck ??= this.#options.clock.schedule(CHECK_EVERY_MS, () => this.#check())
  }

  /**
   * Reads the versions of all loaded environments and of the SDK keys, and loads what has changed.
   * Never rejects.
   */
  async refresh(): Promise<void> {
    const { storage, cache, keys } = this.#options
    const reading = storage.findVersions([...cache.loaded()].map(([id]) => id))
    await Promise.allSettled([
      cache.refreshChanged(reading.then(({ environments }) => environments)),
      keys.refreshIfChanged(reading.then(({ sdkKeys }) => sdkKeys)),
    ])
  }

  /** Unsubscribes and stops all timers and deliveries. */
  stop(): void {
    this.#unsubscribe?.()
    this.#cancelCheck?.()
    this.#cancelStep?.()
    this.#queue.stop()
    this.#stepAt = Number.POSITIVE_INFINITY
    this.#unsubscribe = this.#cancelCheck = this.#cancelStep = undefined
  }

  #receive(change: FlagSetChange | Resync): void {
    switch (change.type) {
      case 'flagSet':
        ignored(this.#options.cache.refresh(change.environmentId, change.version))
        break
      case 'sdkKeys':
        this.#options.keys.recheck()
        break
      case 'resync':
        ignored(this.#resync.run())
        break
    }
  }

  #check(): void {
    const { cache, sessions, clock } = this.#options
    this.#cancelCheck = clock.schedule(CHECK_EVERY_MS, () => this.#check())
    cache.dropUnused((environmentId) => sessions.has(environmentId))
    this.#loadMissing()
    void this.refresh()
    this.#publishSteps()
  }

  /**
   * Loads the flag sets of live clients that were dropped while the clients connected. They then
   * receive what they have missed.
   */
  #loadMissing(): void {
    const { cache, sessions } = this.#options
    for (const environmentId of sessions.environmentIds()) {
      if (cache.peek(environmentId) !== undefined) continue
      for (const kind of SDK_KEY_KINDS) {
        for (const { scope } of sessions.of({ environmentId, kind })) {
          cache.get(scope).catch(() => undefined)
          break
        }
      }
    }
  }

  #endRefused(): void {
    const { keys, sessions } = this.#options
    void sessions.end((scope) => !keys.isValid(scope), 'keyRefused')
  }

  #onSwap({ environmentId, after, before }: FlagSetSwap): void {
    if (before !== undefined) this.#options.observer.begun(environmentId, after.server.version)
    for (const kind of SDK_KEY_KINDS) {
      if (after[kind] !== before?.[kind]) this.#publish({ environmentId, kind }, after[kind])
    }
    // A timer for a step that no longer exists does no harm.
    const next = this.#nextStepOf(after.server)
    if (next < this.#stepAt) this.#armStep(next)
  }

  #publish(scope: FlagSetScope, flagSet: FlagSet): void {
    this.#publishedSteps.set(flagSet, stepAt(flagSet, this.#options.clock.now()))
    this.#queue.publish(scope, flagSet)
  }

  /**
   * Publishes flag sets that have reached another step. The other step is an earlier one if the
   * clock was set back.
   */
  #publishSteps(): void {
    const now = this.#options.clock.now()
    for (const [environmentId, flagSets] of this.#options.cache.loaded()) {
      // Both kinds may share one flag set, so both must be compared before either is published.
      const due = SDK_KEY_KINDS.filter((kind) => {
        return this.#publishedSteps.get(flagSets[kind]) !== stepAt(flagSets[kind], now)
      })
      for (const kind of due) this.#publish({ environmentId, kind }, flagSets[kind])
    }
    let next = Number.POSITIVE_INFINITY
    for (const [, { server }] of this.#options.cache.loaded()) {
      next = Math.min(next, this.#nextStepOf(server))
    }
    this.#armStep(next)
  }

  /**
   * Returns the time of the next step of a flag set, which includes those of its client view;
   * `Infinity` if there is none.
   */
  #nextStepOf(server: FlagSet): number {
    return server.timestamps[this.#publishedSteps.get(server) ?? 0] ?? Number.POSITIVE_INFINITY
  }

  /** Schedules one timer for the next step of any loaded environment. */
  #armStep(at: number): void {
    const { clock } = this.#options
    this.#cancelStep?.()
    this.#cancelStep = undefined
    this.#stepAt = at
    if (at === Number.POSITIVE_INFINITY) return
    this.#cancelStep = clock.schedule(at - clock.now(), () => this.#publishSteps())
  }
}

/** Ignores a failure, because it is already logged and the next check tries again. */
function ignored(refresh: Promise<void>): void {
  refresh.catch(() => undefined)
}
