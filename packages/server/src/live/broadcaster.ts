import type { FlagSet } from '@ff/core'
import { stepAt } from '@ff/core/changes'
import type { ChangeFeed, FlagSetChange, Resync, Unsubscribe } from '@ff/storage'
import { type FlagSetScope, SDK_KEY_KINDS, type SdkKeyVerifier } from '../access/sdk-keys.ts'
import type { FlagSetCache, FlagSetsByKind } from '../evaluation/flag-set-cache.ts'
import type { Cancel, Clock } from '../runtime/clock.ts'
import { Rounds } from './rounds.ts'
import type { SessionRegistry } from './session-registry.ts'

/** How often versions and keys are read again, so that a lost hint costs less than ten seconds. */
const CHECK_EVERY_MS = 5000

interface BroadcasterParts {
  readonly changeFeed: ChangeFeed
  readonly cache: FlagSetCache
  readonly keys: SdkKeyVerifier
  readonly sessions: SessionRegistry
  readonly clock: Clock
}

/**
 * Makes changes known: a hint, a periodic check or the step of a gradual rollout ends in an
 * update of the sessions of that environment; a key that is no longer valid ends its sessions.
 */
export class Broadcaster {
  readonly #parts: BroadcasterParts
  readonly #rounds: Rounds
  /** Which step of each flag set its sessions are told. */
  readonly #toldSteps = new WeakMap<FlagSet, number>()
  #unsubscribe: Unsubscribe | undefined
  #cancelCheck: Cancel | undefined
  #cancelStep: Cancel | undefined

  constructor(parts: BroadcasterParts) {
    this.#parts = parts
    this.#rounds = new Rounds(parts.sessions, parts.clock)
    parts.cache.listen((...swap) => this.#swapped(...swap))
    parts.keys.listen(() => this.#endRefused())
  }

  /** Listens before anything is read, so that no change falls between the two. */
  async start(): Promise<void> {
    this.#unsubscribe ??= await this.#parts.changeFeed.subscribe((change) => this.#hear(change))
    this.#cancelCheck ??= this.#parts.clock.schedule(CHECK_EVERY_MS, () => this.#check())
  }

  stop(): void {
    this.#unsubscribe?.()
    this.#cancelCheck?.()
    this.#cancelStep?.()
    this.#rounds.stop()
    this.#unsubscribe = this.#cancelCheck = this.#cancelStep = undefined
  }

  #hear(change: FlagSetChange | Resync): void {
    switch (change.type) {
      case 'flagSet':
        this.#refresh(change.environmentId, change.version)
        break
      case 'sdkKeys':
        this.#parts.keys.recheck()
        break
      case 'resync':
        this.#refreshEverything()
        break
    }
  }

  #check(): void {
    this.#cancelCheck = this.#parts.clock.schedule(CHECK_EVERY_MS, () => this.#check())
    this.#refreshEverything()
    this.#step()
  }

  #refreshEverything(): void {
    const { cache, sessions } = this.#parts
    void cache.refreshAll((environmentId) => sessions.has(environmentId))
    this.#refreshKeys()
  }

  /** What fails here is logged where it fails, and the next check tries again. */
  #refresh(environmentId: string, version: number): void {
    this.#parts.cache.refresh(environmentId, version).catch(() => undefined)
  }

  #refreshKeys(): void {
    this.#parts.keys.refresh().catch(() => undefined)
  }

  #endRefused(): void {
    const { keys, sessions } = this.#parts
    void sessions.end((scope) => !keys.isLiving(scope), 'keyRefused')
  }

  #swapped(environmentId: string, after: FlagSetsByKind, before?: FlagSetsByKind): void {
    for (const kind of SDK_KEY_KINDS) {
      if (after[kind] !== before?.[kind]) this.#tell({ environmentId, kind }, after[kind])
    }
    this.#armStep()
  }

  #tell(scope: FlagSetScope, flagSet: FlagSet): void {
    this.#toldSteps.set(flagSet, stepAt(flagSet, this.#parts.clock.now()))
    this.#rounds.tell(scope, flagSet)
  }

  /** Tells of steps; backwards if the clock was set back. */
  #step(): void {
    const now = this.#parts.clock.now()
    for (const [environmentId, flagSets] of this.#parts.cache.loaded()) {
      // Both kinds may share one flag set: look at both before either is told.
      const due = SDK_KEY_KINDS.filter((kind) => {
        return this.#toldSteps.get(flagSets[kind]) !== stepAt(flagSets[kind], now)
      })
      for (const kind of due) this.#tell({ environmentId, kind }, flagSets[kind])
    }
    this.#armStep()
  }

  /** One timer for the next step of any loaded environment. */
  #armStep(): void {
    const { cache, clock } = this.#parts
    this.#cancelStep?.()
    this.#cancelStep = undefined
    let next = Number.POSITIVE_INFINITY
    for (const [, flagSets] of cache.loaded()) {
      // A client view has no instants that the whole flag set does not have.
      const { server } = flagSets
      const instant = server.timestamps[this.#toldSteps.get(server) ?? 0]
      if (instant !== undefined && instant < next) next = instant
    }
    if (next === Number.POSITIVE_INFINITY) return
    this.#cancelStep = clock.schedule(next - clock.now(), () => this.#step())
  }
}
