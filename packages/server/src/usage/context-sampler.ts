import { minimalContext } from '@ff/core/explain'
import { canonicalJson, hash128 } from '@ff/core/fingerprint'
import type { Environment } from '@ff/protocol/management'
import type { ContextSample, Storage } from '@ff/storage'
import type { Evaluated } from '../evaluation/evaluated.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import type { Logger } from '../runtime/logger.ts'
import { MAX_KNOWN_SAMPLES, MAX_SAMPLE_BYTES, MAX_SAMPLES } from '../runtime/memory-bounds.ts'
import { BatchBuffer } from './batch-buffer.ts'
import { isLongerJson } from './json-length.ts'
import { keepOutcomes, type PendingSample, personOf, toStoredSamples } from './pending-sample.ts'

/** How many new contexts of one environment are kept in a batch. */
const MAX_NEW = 100

/** How many contexts of one environment are kept in a batch, known or new. */
const MAX_KEPT = 200

/** How many different contexts of one environment are examined in a batch. */
const MAX_DISTINCT = 300

/** About the memory of a sample without its texts and outcomes, in bytes. */
const BYTES_A_CONTEXT = 500

/** The longest text of a context that is kept, in UTF-16 units. */
const MAX_TEXT_LENGTH = 16 * 1024

/** How many samples are written at once. */
const ROWS_A_CALL = 20

/** What a context leads to: some are not wanted, for some there is no room. */
type Decision = PendingSample | 'unwanted' | 'dropped'

/** The contexts of one environment since the last batch. */
interface Batch {
  /** By the hash of the whole context. */
  readonly decisions: Map<string, Decision>
  kept: number
  added: number
}

interface Observation {
  readonly environmentId: string
  /** Of the whole context. */
  readonly contextHash: string
  readonly source: ContextSample['source']
  /** Epoch milliseconds. */
  readonly now: number
}

interface ContextSamplerOptions {
  /** Returns how much an environment keeps of contexts. */
  readonly privacyOf: (environmentId: string) => Environment['contextPrivacy']
  /** Returns the organization of an environment; `undefined` if it does not exist. */
  readonly organizationOf: (environmentId: string) => Promise<string | undefined>
  readonly storage: Storage
  readonly logger: Logger
}

/** Samples the contexts that were evaluated, and writes the samples. */
export class ContextSampler {
  readonly #options: ContextSamplerOptions
  readonly #batches = new Map<string, Batch>()
  /** By environment and hash. */
  readonly #buffer: BatchBuffer<PendingSample>
  /** Names of samples that the store has, the oldest first. */
  readonly #known = new Set<string>()
  #dropped = 0

  constructor(options: ContextSamplerOptions) {
    this.#options = options
    this.#buffer = new BatchBuffer<PendingSample>({
      nameOf: ({ hash }) => hash,
      merge: mergeSamples,
      ...{ maxRows: MAX_SAMPLES, rowsACall: ROWS_A_CALL, logger: options.logger },
      memory: { maxBytes: MAX_SAMPLE_BYTES, bytesOf: ({ bytes }) => bytes },
      write: (samples) => this.#store(samples),
      drop: (sample) => {
        sample.isDropped = true
        return sample.count
      },
    })
  }

  /** How many samples are pending, those being written included. */
  get size(): number {
    return this.#buffer.size
  }

  /** How many observations were dropped: there was no room, or the store refused the sample. */
  get dropped(): number {
    return this.#dropped + this.#buffer.dropped
  }

  /** Adds a context to the samples. Returns false if it was observed in this batch before. */
  observe(evaluated: Evaluated, observation: Observation): boolean {
    const batch = getOrInsert(this.#batches, observation.environmentId, () => {
      return { decisions: new Map(), kept: 0, added: 0 }
    })
    const before = batch.decisions.get(observation.contextHash)
    const decision = before ?? this.#decide(evaluated, observation, batch)
    if (before === undefined && batch.decisions.size < MAX_DISTINCT) {
      batch.decisions.set(observation.contextHash, decision)
    }
    if (decision === 'unwanted') return before === undefined
    if (decision === 'dropped' || decision.isDropped) this.#dropped += 1
    else {
      decision.count += 1
      decision.lastSeen = observation.now
      decision.source = observation.source
      keepOutcomes(decision, evaluated)
    }
    return before === undefined
  }

  /** Writes the pending samples. If the store is unavailable, those that are not written stay pending. */
  write(): Promise<void> {
    // No sample that is being written may change.
    this.#batches.clear()
    return this.#buffer.flush()
  }

  /** Returns the samples whose environment does not exist. */
  async #store(samples: readonly PendingSample[]): Promise<readonly PendingSample[]> {
    const { storage, organizationOf } = this.#options
    const found = new Map<string, string>()
    for (const { environmentId } of samples) {
      const orgId = found.get(environmentId) ?? (await organizationOf(environmentId))
      if (orgId !== undefined) found.set(environmentId, orgId)
    }
    const kept = samples.filter(({ environmentId }) => found.has(environmentId))
    if (kept.length > 0) await storage.recordContextSamples(await toStoredSamples(kept, found))
    for (const sample of kept) this.#remember(nameOf(sample))
    return samples.filter(({ environmentId }) => !found.has(environmentId))
  }

  /** Decides about a context that was not observed in this batch before. */
  #decide(
    evaluated: Evaluated,
    { environmentId, source, now }: Observation,
    batch: Batch,
  ): Decision {
    const privacy = this.#options.privacyOf(environmentId)
    if (privacy === 'none') return 'unwanted'
    if (batch.decisions.size >= MAX_DISTINCT) return 'dropped'
    const { flagSet, context } = evaluated
    const kept = privacy === 'all' ? context : minimalContext(flagSet, context)
    // Sorting and writing a context that is too long would be wasted.
    const text = isLongerJson(kept, MAX_TEXT_LENGTH) ? undefined : canonicalJson(kept)
    if (text === undefined || text.length > MAX_TEXT_LENGTH) return 'dropped'
    const hash = hash128(text)
    const name = nameOf({ environmentId, hash })
    const pending = this.#buffer.find(environmentId, hash)
    if (pending !== undefined) return pending
    const isNew = !this.#known.has(name)
    const person = personOf(context)
    const bytes =
      BYTES_A_CONTEXT + 2 * (text.length + person.key.length) + 4 * flagSet.ordered.length
    if (batch.kept >= MAX_KEPT || (isNew && batch.added >= MAX_NEW)) return 'dropped'
    const sample: PendingSample = {
      ...person,
      ...{ environmentId, hash, text, bytes },
      ...{ firstSeen: now, lastSeen: now, count: 0 },
      ...{ flags: [], codes: new Int32Array(0), source, isDropped: false },
    }
    this.#buffer.add(sample)
    if (sample.isDropped) return 'dropped'
    batch.kept += 1
    if (isNew) batch.added += 1
    return sample
  }

  #remember(name: string): void {
    this.#known.add(name)
    const [oldest] = this.#known
    if (this.#known.size > MAX_KNOWN_SAMPLES && oldest) this.#known.delete(oldest)
  }
}

/** The later sample may still be observed: it is the one that stays. */
function mergeSamples(earlier: PendingSample, later: PendingSample): PendingSample {
  later.firstSeen = earlier.firstSeen
  later.count += earlier.count
  return later
}

function nameOf({ environmentId, hash }: { environmentId: string; hash: string }): string {
  return `${environmentId} ${hash}`
}
