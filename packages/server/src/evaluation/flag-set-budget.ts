import type { Logger } from '../runtime/logger.ts'
import type { FlagSetEntry } from './flag-set-entry.ts'

interface FlagSetBudgetOptions {
  readonly maxFlagSetBytes: number
  /** Returns `true` if an environment has live clients. */
  readonly isLive: (environmentId: string) => boolean
  readonly logger: Logger
}

/**
 * Decides which flag sets must be dropped so that the estimated memory of all flag sets is not more
 * than the budget.
 */
export class FlagSetBudget {
  readonly #options: FlagSetBudgetOptions
  /** The environments for which it was logged that they need more than the budget. */
  readonly #tooLarge = new Set<string>()

  constructor(options: FlagSetBudgetOptions) {
    this.#options = options
  }

  /**
   * Returns the entries to drop after `loaded`, one of the entries, was loaded. The one that was unused for the
   * longest time comes first, and one with live clients last. If another organization than that of
   * `loaded` uses more than half of the budget, its entries come before those of others. `loaded`
   * itself stays, even if it is larger than the budget, which is logged once.
   */
  excess(entries: Iterable<FlagSetEntry>, loaded: FlagSetEntry): readonly FlagSetEntry[] {
    const { maxFlagSetBytes, logger } = this.#options
    const all = [...entries]
    let excess = sumOf(all) - maxFlagSetBytes
    if (excess <= 0) return []
    const dropped: FlagSetEntry[] = []
    for (const entry of this.#inOrder(all, loaded)) {
      if (excess <= 0) break
      excess -= entry.bytes
      dropped.push(entry)
    }
    const { environmentId, bytes } = loaded
    if (bytes > maxFlagSetBytes && !this.#tooLarge.has(environmentId)) {
      this.#tooLarge.add(environmentId)
      const message = 'An environment needs more memory than maxFlagSetBytes allows for all of them'
      logger.warn(message, { environmentId, bytes, maxFlagSetBytes })
    }
    return dropped
  }

  #inOrder(entries: readonly FlagSetEntry[], loaded: FlagSetEntry): readonly FlagSetEntry[] {
    const largest = this.#largestOther(entries, loaded)
    const others = entries.filter((entry) => entry !== loaded && entry.bytes > 0)
    const ranked = others.map((entry) => {
      const isLive = this.#options.isLive(entry.environmentId)
      return { entry, rank: (isLive ? 2 : 0) + (entry.organizationId === largest ? 0 : 1) }
    })
    ranked.sort((a, b) => a.rank - b.rank || a.entry.usedAt - b.entry.usedAt)
    return ranked.map(({ entry }) => entry)
  }

  /** Returns the other organization that uses more than half of the budget, if there is one. */
  #largestOther(entries: readonly FlagSetEntry[], loaded: FlagSetEntry): string | undefined {
    const used = new Map<string, number>()
    for (const { organizationId, bytes } of entries) {
      used.set(organizationId, (used.get(organizationId) ?? 0) + bytes)
    }
    used.delete(loaded.organizationId)
    const half = this.#options.maxFlagSetBytes / 2
    return [...used].find(([, bytes]) => bytes > half)?.[0]
  }
}

/** Returns the estimated memory of all flag sets, in bytes. */
export function sumOf(entries: Iterable<FlagSetEntry>): number {
  let sum = 0
  for (const { bytes } of entries) sum += bytes
  return sum
}
