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

/** A context that was evaluated, as far as it is kept, and its last outcomes. */
export interface PendingSample extends Findable {
  readonly environmentId: string
  readonly hash: string
  /** Canonical JSON. */
  readonly text: string
  /** About the memory of the sample. */
  readonly bytes: number
  firstSeen: number
  lastSeen: number
  count: number
  /** The flags that were evaluated last, and the code of each outcome. */
  flags: readonly CompiledFlag[]
  codes: Int32Array
  source: ContextSample['source']
  /** Whether it gave way to other samples; what is observed of it later is dropped, too. */
  isDropped: boolean
}

/**
 * Converts samples to the form of the store, given the organizations of their environments. Uses time
 * slices: with a thousand flags, each sample takes as long as a few requests.
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
  return {
    ...{ id: newId(), environmentId, orgId, hash, kind, key, source },
    contextJson: JSON.parse(text),
    firstSeen: new Date(sample.firstSeen).toISOString(),
    lastSeen: new Date(sample.lastSeen).toISOString(),
    seenCount: count,
    evaluationSuccess: codes.every((code) => reasonOf(code) !== 'ERROR'),
    variationResults: variationsOf(flags, codes),
  }
}

/**
 * Copies the outcomes of an evaluation, and nothing else: it refers to its whole context, and its
 * array belongs to many others as well.
 */
export function keepOutcomes(sample: PendingSample, { evaluation }: Evaluated): void {
  const { flags, codes, start } = evaluation
  sample.flags = flags
  if (sample.codes.length !== flags.length) sample.codes = new Int32Array(flags.length)
  sample.codes.set(codes.subarray(start, start + flags.length))
}

/** Flag key → the key of the variation that was served, as JSON text. */
function variationsOf(flags: readonly CompiledFlag[], codes: Int32Array): string {
  const members = flags.map((flag, index) => membersOf(flag)[servedBy(codes[index] ?? 0)])
  return `{${members.join(',')}}`
}

/** The member of the object for no variation and for each variation; cached. */
function membersOf(flag: CompiledFlag): readonly string[] {
  return getOrInsert(membersByFlag, flag, () => {
    const served = [null, ...flag.variations.map(({ key }) => key)]
    return served.map((key) => `${JSON.stringify(flag.key)}:${JSON.stringify(key)}`)
  })
}

const membersByFlag = new WeakMap<CompiledFlag, readonly string[]>()

/** Returns the kind and the key of a context. */
export function personOf(context: EvaluationContext): Findable {
  const { kind = '', user } = context
  if (kind !== 'multi') return { kind, key: keyText(context.key) }
  const isUser = typeof user === 'object' && user !== null && !Array.isArray(user)
  return { kind, key: keyText(isUser ? (user as { readonly key?: JsonValue }).key : undefined) }
}

/** A number and its decimal text are the same key, as for bucketing. */
function keyText(key: unknown): string {
  return typeof key === 'string' || typeof key === 'number' ? String(key) : ''
}
