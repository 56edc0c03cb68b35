import type { FlagSet } from '@ff/core'
import { changedFlags, nextInstant, rampingFlags, stepAt } from '@ff/core/changes'
import type { ChangeFeed, FlagSetChange, Resync, Unsubscribe } from '@ff/storage'
import type { SdkKeyVerifier } from '../access/sdk-keys.ts'
import type { Cancel, Clock } from '../clock.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
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
  /** Up to which instant each environment's sessions know the steps of its rollouts. */
  readonly #toldUpTo = new Map<string, number>()
  #unsubscribe: Unsubscribe | undefined
  #cancelCheck: Cancel | undefined
  #cancelStep: Cancel | undefined

  constructor(parts: BroadcasterParts) {
    this.#parts = parts
    parts.cache.listen((environmentId, after, before) =>
      this.#swapped(environmentId, after, before),
    )
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
    sessions.end((scope) => !keys.isLiving(scope), 'keyRefused')
  }

  #swapped(environmentId: string, after: FlagSet, before: FlagSet | undefined): void {
    if (before !== undefined) this.#tell(environmentId, after, changedFlags(before, after))
    else this.#toldUpTo.set(environmentId, this.#parts.clock.now())
    this.#armStep()
  }

  /** Updates an environment's sessions: these flags changed, and others may have stepped since. */
  #tell(environmentId: string, flagSet: FlagSet, changed: readonly string[]): void {
    const { clock, sessions } = this.#parts
    const now = clock.now()
    const stepped = this.#steppedSince(environmentId, flagSet, now)
    this.#toldUpTo.set(environmentId, now)
    const flagKeys = stepped.length === 0 ? changed : [...new Set([...changed, ...stepped])]
    for (const session of [...sessions.of(environmentId)]) session.update(flagSet, flagKeys, now)
  }

  /** The flags that stepped since the sessions were last told; backwards if the clock was set back. */
  #steppedSince(environmentId: string, flagSet: FlagSet, now: number): readonly string[] {
    const since = this.#toldUpTo.get(environmentId) ?? now
    if (stepAt(flagSet, since) === stepAt(flagSet, now)) return []
    return rampingFlags(flagSet, Math.min(since, now), Math.max(since, now))
  }

  #step(): void {
    const now = this.#parts.clock.now()
    for (const [environmentId, flagSet] of this.#parts.cache.loaded()) {
      if (this.#steppedSince(environmentId, flagSet, now).length > 0) {
        this.#tell(environmentId, flagSet, [])
      } else {
        this.#toldUpTo.set(environmentId, now)
      }
    }
    this.#armStep()
  }

  /** One timer for the next step of any loaded environment. */
  #armStep(): void {
    const { cache, clock } = this.#parts
    this.#cancelStep?.()
    this.#cancelStep = undefined
    const now = clock.now()
    let next: number | undefined
    for (const [environmentId, flagSet] of cache.loaded()) {
      const instant = nextInstant(flagSet, Math.min(now, this.#toldUpTo.get(environmentId) ?? now))
      if (instant !== undefined && (next === undefined || instant < next)) next = instant
    }
    if (next !== undefined) this.#cancelStep = clock.schedule(next - now, () => this.#step())
  }
}
