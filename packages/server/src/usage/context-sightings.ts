import { minimalContext } from '@ff/core/explain'
import { canonicalJson, hash128 } from '@ff/core/fingerprint'
import type { Environment } from '@ff/protocol/management'
import type { ContextSample, Storage } from '@ff/storage'
import type { Evaluated } from '../evaluation/evaluated.ts'
import { keepAnswers, type PendingSample, toSightings } from './context-sample.ts'
import { isLongerJson } from './json-length.ts'
import { personOf } from './person.ts'
import type { RowWriter } from './row-writer.ts'

/** How many contexts that are not known yet are kept of one environment and batch. */
const MAX_NEW = 100

/** How many are kept, known or not, of one environment and batch. */
const MAX_KEPT = 200

/** How many different contexts are looked at, of one environment and batch. */
const MAX_DISTINCT = 300

/** How many contexts wait or are being written at most, of all environments. */
const MAX_WAITING = 2000

/** How much memory they may take together, in bytes. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024

/** About what one takes, beside its texts and the answers that it got, in bytes. */
const BYTES_A_CONTEXT = 500

/** How long the text of a context may be that is kept. */
const MAX_TEXT_LENGTH = 16 * 1024

/** How many contexts are remembered to be in the store. */
const MAX_KNOWN = 10_000

/** How many are written at once. */
const ROWS_A_CALL = 20

/** What became of a context: some are not wanted, for some there is no room. */
type Fate = PendingSample | 'unwanted' | 'dropped'

/** What was seen in one environment since the last batch. */
interface Seen {
  /** By the hash of the whole context. */
  readonly fates: Map<string, Fate>
  kept: number
  newcomers: number
}

interface Sight {
  readonly environmentId: string
  /** Of the whole context. */
  readonly contextHash: string
  readonly source: ContextSample['source']
  /** Epoch milliseconds. */
  readonly now: number
}

interface ContextSightingsParts {
  /** What an environment wants to keep of contexts. */
  readonly privacyOf: (environmentId: string) => Environment['contextPrivacy']
  /** The organization of an environment; undefined when it is gone. */
  readonly organizationOf: (environmentId: string) => Promise<string | undefined>
  readonly writer: RowWriter
}

/** The contexts that were evaluated, on their way to the store. */
export class ContextSightings {
  readonly #parts: ContextSightingsParts
  readonly #seen = new Map<string, Seen>()
  /** By environment and hash: what the next batch writes. */
  readonly #waiting = new Map<string, PendingSample>()
  /** Those of the batches under way. */
  readonly #writing = new Set<PendingSample>()
  /** About how much memory both take. */
  #bytes = 0
  /** Names of sightings that the store has, the oldest first. */
  readonly #known = new Set<string>()
  #dropped = 0

  constructor(parts: ContextSightingsParts) {
    this.#parts = parts
  }

  /** How many contexts wait or are being written. */
  get size(): number {
    return this.#waiting.size + this.#writing.size
  }

  /** How many times a context was seen that will never be written: there was no room, or the store refused it. */
  get dropped(): number {
    return this.#dropped
  }

  /** Keeps what is to be kept of a context. False: this very context was seen in this batch already. */
  see(evaluated: Evaluated, sight: Sight): boolean {
    const seen = this.#seenIn(sight.environmentId)
    const before = seen.fates.get(sight.contextHash)
    const fate = before ?? this.#decide(evaluated, sight, seen)
    if (before === undefined && seen.fates.size < MAX_DISTINCT) {
      seen.fates.set(sight.contextHash, fate)
    }
    if (fate === 'dropped') this.#dropped += 1
    else if (fate !== 'unwanted') {
      fate.count += 1
      fate.lastSeen = sight.now
      fate.source = sight.source
      keepAnswers(fate, evaluated)
    }
    return before === undefined
  }

  /** Writes the contexts that wait. If the store is away, those that are not written wait again. */
  async write(storage: Storage): Promise<void> {
    for (const sighting of this.#waiting.values()) this.#writing.add(sighting)
    this.#waiting.clear()
    this.#seen.clear()
    try {
      const organizations = await this.#organizations()
      await this.#parts.writer.write({
        rows: [...this.#writing],
        rowsACall: ROWS_A_CALL,
        write: async (batch) => {
          await storage.recordContextSamples(await toSightings(batch, organizations))
          for (const sighting of batch) {
            this.#remember(nameOf(sighting))
            this.#release(sighting)
          }
        },
        drop: (sighting) => this.#drop(sighting),
      })
    } catch (error) {
      for (const sighting of this.#writing) this.#putBack(sighting)
      this.#writing.clear()
      throw error
    }
  }

  #seenIn(environmentId: string): Seen {
    const known = this.#seen.get(environmentId)
    if (known !== undefined) return known
    const seen = { fates: new Map(), kept: 0, newcomers: 0 }
    this.#seen.set(environmentId, seen)
    return seen
  }

  /** What becomes of a context that was not seen in this batch before. */
  #decide(evaluated: Evaluated, { environmentId, source, now }: Sight, seen: Seen): Fate {
    const privacy = this.#parts.privacyOf(environmentId)
    if (privacy === 'none') return 'unwanted'
    if (seen.fates.size >= MAX_DISTINCT) return 'dropped'
    const { flagSet, context } = evaluated
    const kept = privacy === 'all' ? context : minimalContext(flagSet, context)
    // Most of a context that is too long would be sorted and written in vain.
    const text = isLongerJson(kept, MAX_TEXT_LENGTH) ? undefined : canonicalJson(kept)
    if (text === undefined || text.length > MAX_TEXT_LENGTH) return 'dropped'
    const hash = hash128(text)
    const name = nameOf({ environmentId, hash })
    const waiting = this.#waiting.get(name)
    if (waiting !== undefined) return waiting
    const isNew = !this.#known.has(name)
    const person = personOf(context)
    const bytes =
      BYTES_A_CONTEXT + 2 * (text.length + person.key.length) + 4 * flagSet.ordered.length
    if (!this.#hasRoom(bytes) || seen.kept >= MAX_KEPT) return 'dropped'
    if (isNew && seen.newcomers >= MAX_NEW) return 'dropped'
    seen.kept += 1
    if (isNew) seen.newcomers += 1
    const sighting = {
      ...person,
      ...{ environmentId, hash, text, bytes },
      ...{ firstSeen: now, lastSeen: now, count: 0 },
      ...{ flags: [], codes: new Int32Array(0), source },
    }
    this.#waiting.set(name, sighting)
    this.#bytes += bytes
    return sighting
  }

  #hasRoom(bytes: number): boolean {
    return this.size < MAX_WAITING && this.#bytes + bytes <= MAX_WAITING_BYTES
  }

  /** The organizations of those that are to be written; drops those whose environment is gone. */
  async #organizations(): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>()
    const environments = new Set([...this.#writing].map(({ environmentId }) => environmentId))
    for (const environmentId of environments) {
      const orgId = await this.#parts.organizationOf(environmentId)
      if (orgId !== undefined) found.set(environmentId, orgId)
    }
    for (const sighting of this.#writing) {
      if (!found.has(sighting.environmentId)) this.#drop(sighting)
    }
    return found
  }

  /** After a failure; what was seen meanwhile is newer. */
  #putBack(sighting: PendingSample): void {
    const name = nameOf(sighting)
    const newer = this.#waiting.get(name)
    if (newer === undefined) {
      this.#waiting.set(name, sighting)
      return
    }
    newer.firstSeen = sighting.firstSeen
    newer.count += sighting.count
    this.#bytes -= sighting.bytes
  }

  #drop(sighting: PendingSample): void {
    this.#dropped += sighting.count
    this.#release(sighting)
  }

  /** Lets go of one that is written, or never will be. */
  #release(sighting: PendingSample): void {
    this.#writing.delete(sighting)
    this.#bytes -= sighting.bytes
  }

  #remember(name: string): void {
    this.#known.add(name)
    if (this.#known.size <= MAX_KNOWN) return
    for (const oldest of this.#known) {
      this.#known.delete(oldest)
      break
    }
  }
}

function nameOf({ environmentId, hash }: { environmentId: string; hash: string }): string {
  return `${environmentId} ${hash}`
}
