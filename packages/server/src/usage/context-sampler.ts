import type { EvaluationContext } from '@ff/core'
import { minimalContext } from '@ff/core/explain'
import { canonicalJson, hash128 } from '@ff/core/fingerprint'
import type { ContextSample, Storage } from '@ff/storage'
import type { Evaluated } from '../evaluation/evaluated.ts'
import type { SamplingRules } from '../evaluation/flag-set-entry.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import type { Logger } from '../runtime/logger.ts'
import { MAX_KNOWN_SAMPLES, MAX_SAMPLE_BYTES, MAX_SAMPLES } from '../runtime/memory-bounds.ts'
import { BatchBuffer } from './batch-buffer.ts'
import { isLongerJson } from './json-length.ts'
import { isSuccessful, type PendingSample, personOf, toStoredSamples } from './pending-sample.ts'

/**
 * The maximum number of contexts of one environment in a batch that this process does not remember
 * as stored.
 */
const MAX_NEW = 100

/**
 * The maximum number of contexts of one environment in a batch, including those that are already
 * stored.
 */
const MAX_KEPT = 200

/** The maximum number of different contexts of one environment that are examined in a batch. */
const MAX_DISTINCT = 300

/** The approximate memory of a sample without its texts, in bytes. */
const BYTES_A_CONTEXT = 500

/** The maximum length of a context's JSON text, in UTF-16 units. */
const MAX_TEXT_LENGTH = 16 * 1024

/** The maximum number of samples that are written in one call of the store. */
const ROWS_A_CALL = 20

/**
 * The decision about a context: its sample, `unwanted` because of the context privacy, or `dropped`
 * because the context is too large or there is no room.
 */
type Decision = PendingSample | 'unwanted' | 'dropped'

/** The contexts of one environment since the last write. */
interface Batch {
  /** The rules of `decisions`; `undefined` if no context of this environment may be stored. */
  rules: SamplingRules | undefined
  /** Decisions by the name of the whole context. */
  readonly decisions: Map<string, Decision>
  kept: number
  added: number
}

interface Observation {
  readonly environmentId: string
  /** Identifies the whole context: its hash, or its JSON text. */
  readonly contextName: string
  readonly source: ContextSample['source']
  /** Epoch milliseconds. */
  readonly now: number
}

interface ContextSamplerOptions {
  /** Returns the sampling rules of an environment; `undefined` if none of its contexts is stored. */
  readonly rulesOf: (environmentId: string) => SamplingRules | undefined
  /** Returns the organization of an environment; `undefined` if it does not exist. */
  readonly organizationOf: (environmentId: string) => Promise<string | undefined>
  readonly storage: Storage
  readonly logger: Logger
}

/** Samples the contexts that were evaluated, and writes the samples. */
export class ContextSampler {
  readonly #options: ContextSamplerOptions
  readonly #batches = new Map<string, Batch>()
  /** The pending samples, by environment and hash. */
  readonly #buffer: BatchBuffer<PendingSample>
  /** The names of recently stored samples, the oldest first. */
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

  /** The number of pending samples, including those that are being written. */
  get size(): number {
    return this.#buffer.size
  }

  /**
   * The number of observations that were dropped because there was no room or the store refused the
   * sample.
   */
  get dropped(): number {
    return this.#dropped + this.#buffer.dropped
  }

  /** Adds a context to the samples. */
  observe(evaluated: Evaluated, observation: Observation): void {
    const batch = this.#batchOf(observation.environmentId)
    const before = batch.decisions.get(observation.contextName)
    const decision = before ?? this.#decide(evaluated, observation, batch)
    if (before === undefined && batch.decisions.size < MAX_DISTINCT) {
      batch.decisions.set(observation.contextName, decision)
    }
    if (decision === 'unwanted') return
    if (decision === 'dropped' || decision.isDropped) this.#dropped += 1
    else {
      decision.count += 1
      decision.lastSeen = observation.now
      decision.source = observation.source
      decision.isSuccess = isSuccessful(evaluated.evaluation)
    }
  }

  /**
   * Writes the pending samples. Rejects if the store is unavailable; samples that were not written
   * stay pending.
   */
  write(): Promise<void> {
    // Samples must not change while they are being written.
    this.#batches.clear()
    return this.#buffer.flush()
  }

  /** Removes what refers to the flag set of an environment, so that it does not stay in memory. */
  release(environmentId: string): void {
    const batch = this.#batches.get(environmentId)
    if (batch === undefined) return
    batch.rules = undefined
    batch.decisions.clear()
  }

  /** Writes samples, and returns those of environments that do not exist. */
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

  /** Decides about a context that was not yet observed in this batch. */
  #decide(
    evaluated: Evaluated,
    { environmentId, source, now }: Observation,
    batch: Batch,
  ): Decision {
    const { rules } = batch
    if (rules === undefined || rules.privacy === 'none') return 'unwanted'
    if (batch.decisions.size >= MAX_DISTINCT) return 'dropped'
    const { context } = evaluated
    const kept = keptPart(rules, context)
    // The length is checked first to avoid the cost of canonical JSON for a context that is too
    // long.
    const text = isLongerJson(kept, MAX_TEXT_LENGTH) ? undefined : canonicalJson(kept)
    if (text === undefined || text.length > MAX_TEXT_LENGTH) return 'dropped'
    const hash = hash128(text)
    const name = nameOf({ environmentId, hash })
    const pending = this.#buffer.find(environmentId, hash)
    if (pending !== undefined) return Object.assign(pending, reductionBy(rules))
    const isNew = !this.#known.has(name)
    const person = personOf(context)
    const bytes = BYTES_A_CONTEXT + 2 * (text.length + person.key.length)
    if (batch.kept >= MAX_KEPT || (isNew && batch.added >= MAX_NEW)) return 'dropped'
    const sample: PendingSample = {
      ...person,
      ...{ environmentId, hash, text, bytes, ...reductionBy(rules) },
      ...{ firstSeen: now, lastSeen: now, count: 0 },
      ...{ isSuccess: true, source, isDropped: false },
    }
    this.#buffer.add(sample)
    if (sample.isDropped) return 'dropped'
    batch.kept += 1
    if (isNew) batch.added += 1
    return sample
  }

  /** Returns the batch of an environment. Decisions by other rules than the current are dropped. */
  #batchOf(environmentId: string): Batch {
    const rules = this.#options.rulesOf(environmentId)
    const batch = getOrInsert(this.#batches, environmentId, () => {
      return { rules, decisions: new Map(), kept: 0, added: 0 }
    })
    if (batch.rules === rules) return batch
    batch.rules = rules
    batch.decisions.clear()
    return batch
  }

  #remember(name: string): void {
    this.#known.add(name)
    const [oldest] = this.#known
    if (this.#known.size > MAX_KNOWN_SAMPLES && oldest) this.#known.delete(oldest)
  }
}

function keptPart(
  { privacy, flagSet, keptAttributes }: SamplingRules,
  context: EvaluationContext,
): EvaluationContext {
  return privacy === 'all' ? context : minimalContext(flagSet, context, keptAttributes)
}

function reductionBy({ privacy, flagSet, settingsRevision }: SamplingRules) {
  return { reducedBy: privacy === 'all' ? null : flagSet.version, settingsRevision }
}

/** Merges the earlier sample into the later one, because the later one may still be observed. */
function mergeSamples(earlier: PendingSample, later: PendingSample): PendingSample {
  later.firstSeen = earlier.firstSeen
  later.count += earlier.count
  return later
}

function nameOf({ environmentId, hash }: { environmentId: string; hash: string }): string {
  return `${environmentId} ${hash}`
}
