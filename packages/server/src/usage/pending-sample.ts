import { type EvaluationContext, type JsonValue, reasonOf } from '@ff/core'
import type { Evaluation } from '@ff/core/all-flags'
import type { ContextSample, Findable } from '@ff/storage'
import { newId } from '../access/secrets.ts'
import { forEachInTimeSlices } from '../runtime/time-slice.ts'

/** The stored part of an evaluated context, and its last evaluation. */
export interface PendingSample extends Findable {
  readonly environmentId: string
  /** The hash of `text`. */
  readonly hash: string
  /** The stored part of the context as canonical JSON. */
  readonly text: string
  /** The approximate memory of the sample, in bytes. */
  readonly bytes: number
  /** Epoch milliseconds. */
  firstSeen: number
  /** Epoch milliseconds. */
  lastSeen: number
  /** The number of observations. */
  count: number
  /** `true` if no flag of the last evaluation had the reason `ERROR`. */
  isSuccess: boolean
  source: ContextSample['source']
  /** See `Reduced`, which is about the last observation. */
  reducedBy: number | null
  settingsRevision: number
  /** `true` if the sample was dropped. Later observations of it are dropped too. */
  isDropped: boolean
}

/**
 * Converts samples to the form in which they are stored. `organizations` maps environment ids to
 * organization ids. Works in time slices, because a batch of long contexts takes as long as several
 * requests.
 */
export async function toStoredSamples(
  batch: readonly PendingSample[],
  organizations: ReadonlyMap<string, string>,
): Promise<readonly ContextSample[]> {
  const records: ContextSample[] = []
  await forEachInTimeSlices(batch, (sample) => {
    records.push(toStoredSample(sample, organizations.get(sample.environmentId) ?? ''))
  })
  return records
}

function toStoredSample(sample: PendingSample, orgId: string): ContextSample {
  const { environmentId, hash, kind, key, text, count, isSuccess, source } = sample
  const { reducedBy, settingsRevision } = sample
  return {
    ...{ id: newId(), environmentId, orgId, hash, kind, key, source },
    ...{ reducedBy, settingsRevision },
    contextJson: JSON.parse(text),
    firstSeen: new Date(sample.firstSeen).toISOString(),
    lastSeen: new Date(sample.lastSeen).toISOString(),
    seenCount: count,
    evaluationSuccess: isSuccess,
  }
}

/** Returns `true` if no flag of an evaluation had the reason `ERROR`. */
export function isSuccessful({ flags, codes, start }: Evaluation): boolean {
  for (let index = 0; index < flags.length; index += 1) {
    if (reasonOf(codes[start + index] ?? 0) === 'ERROR') return false
  }
  return true
}

/**
 * Returns the kind and the key of a context. For a multi-context, the key is that of its `user`
 * context. The key is empty if the context has no such key.
 */
export function personOf(context: EvaluationContext): Findable {
  const { kind = '', user } = context
  if (kind !== 'multi') return { kind, key: keyText(context.key) }
  const isUser = typeof user === 'object' && user !== null && !Array.isArray(user)
  return { kind, key: keyText(isUser ? (user as { readonly key?: JsonValue }).key : undefined) }
}

/** Returns a key as text. A number and its decimal text are the same key, as for bucketing. */
function keyText(key: unknown): string {
  return typeof key === 'string' || typeof key === 'number' ? String(key) : ''
}
