import {
  type CompiledFlag,
  type EvaluationContext,
  type JsonValue,
  reasonOf,
  servedBy,
} from '@ff/core'
import type { ContextSample, Findable } from '@ff/storage'
import { newId } from '../access/secrets.ts'
import type { Evaluated } from '../evaluation/evaluated.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import { forEachInTimeSlices } from '../runtime/time-slice.ts'

/** The stored part of an evaluated context, and the outcomes of its last evaluation. */
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
  /** The flags of the last evaluation. `codes` contains the code of each outcome. */
  flags: readonly CompiledFlag[]
  codes: Int32Array
  source: ContextSample['source']
  /** See `Reduced`, which is about the last observation. */
  reducedBy: number | null
  settingsRevision: number
  /** `true` if the sample was dropped. Later observations of it are dropped too. */
  isDropped: boolean
}

/**
 * Converts samples to the form in which they are stored. `organizations` maps environment ids to
 * organization ids. Works in time slices, because with a thousand flags each sample takes as long
 * as several requests.
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
  const { environmentId, hash, kind, key, text, count, flags, codes, source } = sample
  const { reducedBy, settingsRevision } = sample
  return {
    ...{ id: newId(), environmentId, orgId, hash, kind, key, source },
    ...{ reducedBy, settingsRevision },
    contextJson: JSON.parse(text),
    firstSeen: new Date(sample.firstSeen).toISOString(),
    lastSeen: new Date(sample.lastSeen).toISOString(),
    seenCount: count,
    evaluationSuccess: codes.every((code) => reasonOf(code) !== 'ERROR'),
    variationResults: variationsOf(flags, codes),
  }
}

/**
 * Copies the outcomes of an evaluation to a sample. The evaluation itself must not be stored,
 * because it refers to its context and to an array that many evaluations share.
 */
export function keepOutcomes(sample: PendingSample, { evaluation }: Evaluated): void {
  const { flags, codes, start } = evaluation
  sample.flags = flags
  if (sample.codes.length !== flags.length) sample.codes = new Int32Array(flags.length)
  sample.codes.set(codes.subarray(start, start + flags.length))
}

/** Returns a JSON object that maps each flag key to the key of the served variation, or `null`. */
function variationsOf(flags: readonly CompiledFlag[], codes: Int32Array): string {
  const members = flags.map((flag, index) => membersOf(flag)[servedBy(codes[index] ?? 0)])
  return `{${members.join(',')}}`
}

/**
 * Returns the JSON text of a flag's member, for no variation and for each variation. The result is
 * cached.
 */
function membersOf(flag: CompiledFlag): readonly string[] {
  return getOrInsert(membersByFlag, flag, () => {
    const served = [null, ...flag.variations.map(({ key }) => key)]
    return served.map((key) => `${JSON.stringify(flag.key)}:${JSON.stringify(key)}`)
  })
}

const membersByFlag = new WeakMap<CompiledFlag, readonly string[]>()

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
