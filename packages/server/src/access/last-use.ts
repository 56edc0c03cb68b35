import { isFlagError } from '@ff/core'
import type { Storage } from '@ff/storage'
import type { Cancel, Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'

/** The precision of the recorded times, in milliseconds. */
const PRECISION_MS = 60_000

/** The time for which uses are collected before they are written. */
const GATHER_MS = 1000

interface LastUseOptions {
  readonly storage: Storage
  readonly clock: Clock
  readonly logger: Logger
}

/** The kinds of records with a `lastUsedAt` field. */
type Used = 'accessToken' | 'sdkKey' | 'loginSession'

/**
 * Records the time at which tokens, keys or log-in sessions were last used, with a precision of a
 * minute. Writes in the background, at most once per minute and record. A use that cannot be
 * written is dropped.
 */
export class LastUse {
  readonly #kind: Used
  readonly #options: LastUseOptions
  /** The time of the last noted use, in epoch milliseconds, by record id. */
  readonly #notedAt = new Map<string, number>()
  #pending = new Map<string, number>()
  #cancel: Cancel | undefined

  constructor(kind: Used, options: LastUseOptions) {
    this.#kind = kind
    this.#options = options
  }

  /** Records a use of the record with this id. */
  note(id: string): void {
    const { clock } = this.#options
    const now = clock.now()
    const before = this.#notedAt.get(id)
    if (before !== undefined && Math.abs(now - before) < PRECISION_MS) return
    this.#notedAt.set(id, now)
    this.#pending.set(id, now)
    this.#cancel ??= clock.schedule(GATHER_MS, () => void this.#write())
  }

  /** Stops writing. Uses that were not written are dropped. */
  stop(): void {
    this.#cancel?.()
  }

  async #write(): Promise<void> {
    const { storage, clock, logger } = this.#options
    const pending = this.#pending
    this.#pending = new Map()
    this.#cancel = undefined
    const now = clock.now()
    for (const [id, usedAt] of this.#notedAt) {
      if (Math.abs(now - usedAt) >= PRECISION_MS) this.#notedAt.delete(id)
    }
    for (const [id, usedAt] of pending) {
      try {
        const lastUsedAt = new Date(usedAt).toISOString()
        await storage.update(this.#kind, id, { lastUsedAt })
      } catch (cause) {
        const code = isFlagError(cause) ? cause.code : undefined
        // The record was deleted in the meantime, perhaps by the very request that used the token.
        if (code === 'NOT_FOUND') continue
        // An unavailable store is logged elsewhere.
        if (code !== 'UNAVAILABLE') {
          logger.warn('The last use of tokens and keys could not be recorded', { cause })
        }
        return
      }
    }
  }
}
