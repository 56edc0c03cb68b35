import { isFlagError } from '@ff/core'
import type { Storage } from '@ff/storage'
import type { Cancel, Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'

/** The precision of the time of the last use. */
const PRECISION_MS = 60_000

/** How long uses are gathered before they are written. */
const GATHER_MS = 1000

interface LastUseOptions {
  readonly storage: Storage
  readonly clock: Clock
  readonly logger: Logger
}

/** The kinds of records that have a last use. */
type Used = 'accessToken' | 'sdkKey' | 'loginSession'

/**
 * Records when tokens, keys or sessions were last used, to the minute: at most one write a minute for
 * each, in the background. A use that cannot be written is dropped.
 */
export class LastUse {
  readonly #kind: Used
  readonly #options: LastUseOptions
  /** By id; epoch milliseconds. */
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

  /** Stops writing. */
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
        // Deleted since: the last use of a token may be its own deletion.
        if (code === 'NOT_FOUND') continue
        // An unavailable store is reported where it matters.
        if (code !== 'UNAVAILABLE') {
          logger.warn('the last use of tokens and keys could not be kept', { cause })
        }
        return
      }
    }
  }
}
